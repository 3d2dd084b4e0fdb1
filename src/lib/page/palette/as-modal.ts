/** Shows a `<dialog>` as long as it exists; a click beside it closes it, and its keys stay in it. */

/** For `{@attach}`. The focus goes back to where it was. */
export function asModal(dialog: HTMLDialogElement): () => void {
	const onclick = (event: MouseEvent): void => {
		// What is beside it counts as the dialog itself, what is in it does not.
		if (event.target !== dialog) return;
		const { left, right, top, bottom } = dialog.getBoundingClientRect();
		const isInside = event.clientX >= left && event.clientX <= right && event.clientY >= top && event.clientY <= bottom;
		if (!isInside) dialog.close();
	};
	// On the page below Escape would stop the run.
	const onkeydown = (event: KeyboardEvent): void => {
		if (event.key === 'Escape') event.stopPropagation();
	};
	dialog.addEventListener('click', onclick);
	dialog.addEventListener('keydown', onkeydown);
	const before = document.activeElement;
	dialog.showModal();
	return () => {
		dialog.removeEventListener('click', onclick);
		dialog.removeEventListener('keydown', onkeydown);
		dialog.close();
		// By now it is out of the page, where the browser itself gives nothing back.
		if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
	};
}
