/** What is said around an answer's text: code, tables, images, diagrams, and the way through a long conversation. */
export const markdownText = {
	plainCode: 'text',
	copyCode: 'Copy code',
	code: (language: string) => (language ? `Code, ${language}` : 'Code'),
	wrapLines: 'Wrap long lines',
	showAllLines: (count: number) => `Show all ${count.toLocaleString('en')} lines`,
	showFewerLines: 'Show fewer lines',
	table: 'Table',
	done: 'Done',
	toDo: 'To do',
	image: (text: string, host: string) => `${text || 'Image'} (${host})`,
	opens: (address: string) => `Opens ${address}`,
	diagram: 'Diagram',
	showSource: 'Show source',
	showDiagram: 'Show diagram',
	drawing: 'Drawing…',
	diagramFailed: 'This could not be drawn; here is its source.',
	diagramTooLong: 'This is too long to be drawn; here is its source.',
	conversation: 'Conversation messages',
	toEnd: 'Scroll to the end',
	toPrevious: 'Go to the previous message',
	earlier: 'Earlier messages'
};
