/** Which Chromium the skill `browser` runs: the operator's, Playwright's own, or the system's (FEATURES D31). */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface Chromium {
	/** Absolute path. */
	executablePath: string;
	args?: readonly string[];
	/** Beside PATH, HOME and LANG. */
	env?: Readonly<Record<string, string>>;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const ELSEWHERE = [
	'/snap/bin/chromium',
	'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
	'/Applications/Chromium.app/Contents/MacOS/Chromium',
	'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'
];

/** @param own where Playwright would have its own; null when none of them is there, or what CHROMIUM_PATH names is not */
export function findChromium(
	environment: Readonly<Record<string, string | undefined>>,
	own: string | null
): Chromium | null {
	const chosen = environment.CHROMIUM_PATH;
	const folders = [...(environment.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'].filter(Boolean);
	const onPath = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
	const candidates = chosen ? [chosen] : [...(own ? [own] : []), ...onPath, ...ELSEWHERE];
	const executablePath = candidates.find((path) => existsSync(path));
	return executablePath ? { executablePath } : null;
}
