/** Reads a list that the server gives out page by page. */

interface Page {
	data: { id: string }[];
	total: number;
	limit: number;
}

/** At most `maxPages`, from the first. Items may move between pages while they are read: each comes once. */
export async function readPages<Answer extends Page>(
	read: (page: number) => Promise<Answer>,
	maxPages: number
): Promise<{ items: Answer['data'][number][]; last: Answer }> {
	const found = new Map<string, Answer['data'][number]>();
	for (let page = 1; ; page++) {
		const answer = await read(page);
		for (const item of answer.data) found.set(item.id, item);
		const isLast = answer.data.length === 0 || page * answer.limit >= answer.total;
		if (isLast || page >= maxPages) return { items: [...found.values()], last: answer };
	}
}
