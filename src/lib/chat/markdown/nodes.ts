/** What an answer's markdown is shown as: a small tree of plain data in which nothing can carry HTML. */

export type Inline =
	| { type: 'text'; text: string }
	| { type: 'code'; text: string }
	/** TeX, checked by nobody yet. */
	| { type: 'math'; source: string; isDisplay: boolean }
	/** A part of a very long paragraph. */
	| { type: 'piece'; children: Inline[] }
	| { type: 'strong' | 'emphasis' | 'deleted'; children: Inline[] }
	/** `href` is an address that is safe to follow, see `safeHref`. */
	| { type: 'link'; href: string; children: Inline[] }
	/** Never fetched: shown as a link to where the image is. Null when that is no web address. */
	| { type: 'image'; href: string | null; text: string }
	| { type: 'checkbox'; isChecked: boolean }
	| { type: 'break' };

export type Alignment = 'left' | 'center' | 'right' | null;

export type Node =
	| { type: 'heading'; level: number; children: Inline[] }
	| { type: 'paragraph'; children: Inline[] }
	/** The text of a tight list item: no paragraph of its own. */
	| { type: 'line'; children: Inline[] }
	| { type: 'code'; language: string; text: string }
	| { type: 'quote'; children: Node[] }
	| { type: 'list'; isOrdered: boolean; start: number; items: Node[][] }
	| { type: 'table'; alignments: Alignment[]; header: Inline[][]; rows: Inline[][][] }
	| { type: 'math'; source: string }
	| { type: 'rule' }
	/** Raw HTML, or text that was too much to parse: shown as it is. */
	| { type: 'plain'; text: string };
