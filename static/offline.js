// Shown by the service worker in place of a page that could not be loaded: loads it again as soon as the server answers.
(() => {
	const SOON_MS = 2_000;
	const LATE_MS = 30_000;
	let waitMs = SOON_MS;
	let timer;

	const look = async () => {
		clearTimeout(timer);
		// Any answer will do, also that one has to log in.
		const isBack = await fetch('/api/health', { cache: 'no-store' }).then(
			({ status }) => status < 500,
			() => false
		);
		if (isBack) return location.reload();
		waitMs = Math.min(waitMs * 1.5, LATE_MS);
		timer = setTimeout(look, waitMs);
	};

	addEventListener('online', look);
	document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && look());
	timer = setTimeout(look, SOON_MS);
})();
