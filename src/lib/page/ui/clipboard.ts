/** Small values in browser storage. If storage is off or full, nothing is stored. */

type Kind = 'session' | 'local';

export function readStored(kind: Kind, key: string): string | null {
	return withStorage(kind, (storage) => storage.getItem(key)) ?? null;
}

/** `null` removes the value. */
export function writeStored(kind: Kind, key: string, value: string | null): void {
	withStorage(kind, (storage) => (value === null ? storage.removeItem(key) : storage.setItem(key, value)));
}

export function storedKeys(kind: Kind, prefix: string): string[] {
	return withStorage(kind, (storage) => Object.keys(storage).filter((key) => key.startsWith(prefix))) ?? [];
}

function withStorage<Result>(kind: Kind, use: (storage: Storage) => Result): Result | undefined {
	try {
		return use(kind === 'session' ? sessionStorage : localStorage);
	} catch (error) {
		if (error instanceof DOMException) return undefined;
		throw error;
	}
}

/** Copies text, also without the clipboard API (plain http from another machine). Resolves to false if the browser refuses. */
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

/** Downloads what is at this address. Default name: the server’s. */
export function saveFile(href: string, name = ''): void {
	const link = document.createElement('a');
	link.href = href;
	link.download = name;
	link.click();
}
