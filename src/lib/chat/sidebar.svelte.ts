/** Is the sidebar seen? On a wide page it stands beside the chat, on a small one it is a drawer over it. */
import { readStored, writeStored } from './stored.ts';

const KEY = 'sidebar-hidden';
/** Tailwind's `md`. */
const WIDE = '(width >= 48rem)';

export class SidebarState {
	/** On a wide page. */
	isHidden = $state(readStored('local', KEY) !== null);
	/** On a small page. */
	isDrawerOpen = $state(false);

	toggle(): void {
		if (!matchMedia(WIDE).matches) {
			this.isDrawerOpen = !this.isDrawerOpen;
			return;
		}
		this.isHidden = !this.isHidden;
		writeStored('local', KEY, this.isHidden ? '1' : null);
	}

	/** Only on a small page. */
	openDrawer(): void {
		if (!matchMedia(WIDE).matches) this.isDrawerOpen = true;
	}

	/** The sidebar is to be seen, for its search say. */
	reveal(): void {
		if (!matchMedia(WIDE).matches ? !this.isDrawerOpen : this.isHidden) this.toggle();
	}

	closeDrawer(): void {
		this.isDrawerOpen = false;
	}
}
