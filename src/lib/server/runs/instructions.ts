/** The system prompt of a turn: who answers, which skills there are, which files. */

/** What the catalog of skills may cost a turn; with more skills, those that fit the question are told in full. */
export const CATALOG_TOKENS = 2000;

/** `catalog` is what `renderCatalog` makes, `always` what `renderAlways` makes, `said` the caller's own; each may be empty. */
export function instructionsOf(
	catalog: string,
	files: readonly { path: string; bytes: number }[],
	{ always = '', said = '' }: { always?: string; said?: string | undefined } = {}
): string {
	const listing = files.slice(0, 200).map(({ path, bytes }) => `- ${path} (${bytes} bytes)`);
	return [
		'You are a helpful assistant. Use the skills below when they fit what is asked; answer in the language of the user.',
		catalog,
		// Before the files, which change more often: a server's cache of the prompt ends where it differs.
		always,
		`## Working directory\n\nScripts run in this conversation's working directory; give them files by these relative names. Files there:\n${listing.join('\n') || '(none)'}`,
		said
	]
		.filter(Boolean)
		.join('\n\n');
}
