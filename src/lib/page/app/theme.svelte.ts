/** Light, dark or system theme. `static/start.js` does the same before the first paint, with the same key. */
import { readStored, writeStored } from '../ui/clipboard.ts';

export type Theme = 'system' | 'light' | 'dark';

const THEME_KEY = 'theme';
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };

export class ThemeChoice {
	#current = $state<Theme>('system');

	constructor() {
		this.#show(storedTheme());
	}

	get current(): Theme {
		return this.#current;
	}

	set current(theme: Theme) {
		this.#show(theme);
		writeStored('local', THEME_KEY, theme === 'system' ? null : theme);
	}

	next(): void {
		this.current = NEXT[this.current];
	}

	/** Follows changes in other tabs; returns a function that stops it. */
	watch(): () => void {
		const follow = ({ key }: StorageEvent): void => {
			if (key === THEME_KEY || key === null) this.#show(storedTheme());
		};
		addEventListener('storage', follow);
		return () => removeEventListener('storage', follow);
	}

	#show(theme: Theme): void {
		this.#current = theme;
		if (theme === 'system') delete document.documentElement.dataset.theme;
		else document.documentElement.dataset.theme = theme;
	}
}

function storedTheme(): Theme {
	const stored = readStored('local', THEME_KEY);
	return stored === 'light' || stored === 'dark' ? stored : 'system';
}
