/** Copies text, also where the clipboard API is missing (plain http from another machine). */

/** False when the browser did not allow it. */
export async function copyText(text: string): Promise<boolean> {
	if (!navigator.clipboard) return copySelection(text);
	return navigator.clipboard.writeText(text).then(
		() => true,
		() => copySelection(text)
	);
}

function copySelection(text: string): boolean {
	const area = document.createElement('textarea');
	area.value = text;
	area.style.position = 'fixed';
	area.style.opacity = '0';
	document.body.append(area);
	area.select();
	try {
		return document.execCommand('copy');
	} finally {
		area.remove();
	}
}
