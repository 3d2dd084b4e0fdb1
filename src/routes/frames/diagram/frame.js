// Runs inside the frame, which has an opaque origin: gets Mermaid's code and a text from the page, draws it, reports its size.
{
	/** @typedef {{ initialize(options: object): void, render(id: string, text: string): Promise<{ svg: string }> }} Mermaid */

	const nonce = document.currentScript?.nonce ?? '';
	/** Defined before this script. */
	const { withoutHandlers } = /** @type {typeof globalThis & { withoutHandlers(html: string): string }} */ (globalThis);
	const { parseFromString } = DOMParser.prototype;
	/** Mermaid's sanitizer parses each label with this; the handlers are gone by then. @type {typeof parseFromString} */
	DOMParser.prototype.parseFromString = function (html, type) {
		return parseFromString.call(this, withoutHandlers(String(html)), type);
	};

	addEventListener('message', ({ source, data }) => {
		if (source !== parent) return;
		void draw(data).then(
			(size) => parent.postMessage({ type: 'drawn', ...size }, '*'),
			(error) => parent.postMessage({ type: 'failed', message: String(error?.message ?? error).slice(0, 500) }, '*')
		);
	});
	// Links would navigate the frame; the policy blocks them, but the diagram would be lost.
	addEventListener('click', (event) => event.preventDefault(), true);
	parent.postMessage({ type: 'ready' }, '*');

	/** @param {{ code?: string, text: string, isDark: boolean }} order */
	async function draw({ code, text, isDark }) {
		if (code !== undefined) load(code);
		const { mermaid } = /** @type {typeof globalThis & { mermaid?: Mermaid }} */ (globalThis);
		if (!mermaid) throw new Error('mermaid is not there');
		mermaid.initialize({
			startOnLoad: false,
			securityLevel: 'strict',
			suppressErrorRendering: true,
			theme: isDark ? 'dark' : 'default',
			fontFamily: 'ui-sans-serif, system-ui, sans-serif',
			maxTextSize: 20_000,
			maxEdges: 400
		});
		const { svg } = await mermaid.render('diagram', text);
		// The page isn't reachable from here, and the policy lets nothing in or out.
		document.body.innerHTML = svg;
		document.documentElement.style.colorScheme = isDark ? 'dark' : 'light';
		const box = document.querySelector('svg')?.getBoundingClientRect();
		return { width: Math.ceil(box?.width ?? 0), height: Math.ceil(box?.height ?? 0) };
	}

	/** @param {string} code */
	function load(code) {
		const script = document.createElement('script');
		script.nonce = nonce;
		script.textContent = code;
		document.head.append(script);
	}
}
