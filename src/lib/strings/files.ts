/** Words of files: cards of those that scripts made, and their previews. */
export const filesText = {
	made: 'Files made by this step',
	showMore: (count: number) => `Show ${count} more files`,
	download: 'Download',
	downloadOf: (path: string) => `Download ${path}`,
	downloadHint: '(download)',
	preview: 'Preview',
	previewOf: (path: string) => `Preview ${path}`,
	imageOf: (path: string) => `Preview of ${path}`,
	enlarge: (path: string) => `Enlarge ${path}`,
	close: 'Close',
	reading: 'Reading…',
	gone: 'This file is not there any more.',
	changed: (size: string) => `Changed since: it has ${size} now.`,
	longer: 'The file is longer; download it to see all of it.',
	page: (path: string) => `Preview of the page ${path}, without its scripts`,
	noScripts: 'Shown without its scripts and without the network.',
	showPage: 'Page',
	showSource: 'Source',
	table: {
		label: (path: string) => `Table of ${path}`,
		rows: (count: string) => (count === '1' ? '1 row' : `${count} rows`),
		firstRows: (count: string) => `the first ${count} rows`,
		sort: (column: string) => `Sort by ${column}`,
		column: (index: number) => `Column ${index}`,
		showMore: (count: number) => `Show ${count} more rows`,
		moreColumns: (count: number) => `${count} more columns are in the file`
	},
	empty: 'The file is empty.'
};
