// Runs before the first paint: the theme that was chosen, and a word in case the page never starts. Not inline: the policy forbids that.
(() => {
	const root = document.documentElement;
	try {
		const theme = localStorage.getItem('theme');
		if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
	} catch (error) {
		// Without storage it is the system's.
		if (!(error instanceof DOMException)) throw error;
	}

	// Set by the page when it has started.
	const fail = () => {
		const note = document.getElementById('not-started');
		if (note && root.dataset.started === undefined) note.hidden = false;
	};
	// What cannot be loaded does not bubble; Kit's own imports are promises.
	addEventListener('error', (event) => event.target instanceof HTMLElement && fail(), true);
	addEventListener('unhandledrejection', fail);
})();
