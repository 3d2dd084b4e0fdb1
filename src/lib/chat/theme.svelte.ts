/** Light, dark, or as the system has it. */
import { readStored, writeStored } from './stored.ts';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'theme';
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };

export class ThemeChoice {
	current = $state<Theme>('system');

	constructor() {
		const stored = readStored('local', KEY);
		this.#set(stored === 'light' || stored === 'dark' ? stored : 'system');
	}

	next(): void {
		this.#set(NEXT[this.current]);
		writeStored('local', KEY, this.current === 'system' ? null : this.current);
	}

	#set(theme: Theme): void {
		this.current = theme;
		if (theme === 'system') delete document.documentElement.dataset.theme;
		else document.documentElement.dataset.theme = theme;
	}
}
