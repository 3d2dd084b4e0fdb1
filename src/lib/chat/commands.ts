/** What can be done by writing a slash and a word. */

export interface ComposerCommand {
	/** Without the slash. */
	name: string;
	/** In a sentence. */
	description: string;
	run: () => void;
}
