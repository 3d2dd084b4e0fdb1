/** The command palette, and the dialog of shortcuts. */
export const paletteText = {
	palette: 'Command palette',
	placeholder: 'Where to, or what to do?',
	groups: {
		actions: 'Actions',
		conversations: 'Conversations',
		found: 'Found in conversations',
		pages: 'Pages',
		skills: 'Skills'
	},
	searching: 'Searching…',
	none: 'Nothing matches.',
	hintMove: 'to move',
	hintChoose: 'to choose',
	hintClose: 'to close',
	close: 'Close',

	newChat: 'New chat',
	theme: (name: string) => `Theme: ${name}`,
	toggleSidebar: 'Show or hide the sidebar',
	searchConversations: 'Search conversations',
	importFile: 'Import a conversation',
	exportMarkdown: 'Export this conversation as Markdown',
	exportJson: 'Export this conversation as JSON',
	stop: 'Stop the answer',
	shortcuts: 'Keyboard shortcuts',

	chat: 'Chat',
	skillsPage: 'Skills',
	install: 'Install skills',
	executions: 'Executions',
	settings: 'Settings',
	api: 'API reference',
	openSkill: (name: string) => `Skill: ${name}`,
	chatWithSkill: (name: string) => `New chat with ${name}`,

	shortcutGroups: { anywhere: 'Anywhere', list: 'In the list of conversations', composer: 'In the message box' },
	shortcutNames: {
		palette: 'Command palette',
		newChat: 'New chat',
		search: 'Search conversations',
		sidebar: 'Show or hide the sidebar',
		shortcuts: 'Keyboard shortcuts',
		close: 'Close what is open; stop the answer',
		move: 'Up and down the list',
		ends: 'First and last of the list',
		open: 'Open the conversation',
		rename: 'Rename it',
		remove: 'Delete it',
		send: 'Send',
		newLine: 'New line',
		edit: 'Edit your last message, when the box is empty'
	},
	keys: {
		ctrl: 'Ctrl',
		shift: 'Shift',
		enter: 'Enter',
		escape: 'Esc',
		delete: 'Delete',
		up: '↑',
		down: '↓',
		home: 'Home',
		end: 'End',
		command: '⌘',
		shiftOnMac: '⇧'
	},
	or: 'or'
};
