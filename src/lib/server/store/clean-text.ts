/** Text that every database keeps: Postgres refuses NUL, and neither can store half of a surrogate pair. */

/** Without NUL; a lone surrogate becomes U+FFFD. JSON text needs none of it: there both are escaped. */
export function cleanText(text: string): string {
	return text.replaceAll('\0', '').toWellFormed();
}
