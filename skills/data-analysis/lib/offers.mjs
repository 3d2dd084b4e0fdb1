/** What can be asked about a file. */

import { onlyRows } from './conditions.mjs';
import { labelOf, likelyOf, WHO } from './names.mjs';
import { readQuestion } from './question.mjs';
import { hasBothSigns, kindsOf } from './report.mjs';

const MOST_QUESTIONS = 4;

/**
 * What else can be asked about the file: only what is read without a word left over.
 * @param asked `by` and `conditions` of a question that can't be answered: what it speaks of comes first
 */
export function questionsOf(table, columns, asked) {
	const isRead = (question) => {
		const { unknown, conditions } = readQuestion(question, table, columns);
		return unknown.length === 0 && !onlyRows(table, conditions, []).rows().next().done;
	};
	return [...new Set(ideas(columns, table.dates, asked))].filter(isRead).slice(0, MOST_QUESTIONS);
}

function ideas(columns, dates, asked = { by: [], conditions: [] }) {
	const value = likelyOf(columns);
	const said = asked.conditions.find(
		({ index, cells, sign }) => sign === '=' && cells?.[0] && columns[index].type === 'text'
	);
	const isKind = (index) => columns[index].type === 'text' && columns[index].counts.size < columns[index].filled;
	const sorts = columns.findIndex(({ name }, index) => /^(category|kind|type)$/i.test(name) && isKind(index));
	const kinds = [...asked.by, ...(said ? [said.index] : [])].find(isKind) ?? (sorts < 0 ? kindsOf(columns) : sorts);
	const name = (column) => (/^[\p{L}\p{N} _-]+$/u.test(column.name) ? column.name : `"${column.name}"`);
	const isNamed = kinds !== null && columns[kinds].type !== 'date';
	const cellOf = () => name({ name: said?.index === kinds ? said.cells[0] : [...columns[kinds].counts.keys()][0] });
	const label = columns[labelOf(columns)];
	const isOfPeople = WHO.test(label?.name) && 2 * label.counts.size > label.filled;
	const lacking = (those) => {
		const found = those.find((column) => column !== label && column.missing > 0 && column.filled > 0);
		return found ? [`${isOfPeople ? 'who has' : 'which have'} no ${name(found)}?`] : [];
	};
	const list = said && said.index !== kinds ? [`show ${name({ name: said.cells[0] })}`] : [];
	if (value === null) {
		const flag = columns.find(({ type }) => type === 'yes/no');
		if (isNamed) list.push(`how many per ${name(columns[kinds])}?`, `how many are ${cellOf()}?`);
		if (flag) list.push(`how many have ${name(flag)} no?`);
		list.push(...lacking(columns));
		if (dates.length > 0) list.push(`the latest ${name({ name: dates[0] })}`);
	} else if (hasBothSigns(columns[value])) {
		if (isNamed) list.push(`spending per ${name(columns[kinds])}`);
		if (dates.length === 1) list.push('spending per month', 'income per month');
		list.push('the biggest payment');
	} else {
		const amount = name(columns[value]);
		const sum = /^total\b/i.test(amount) ? amount : `total ${amount}`;
		if (isNamed) {
			const by = name(columns[kinds]);
			list.push(`which ${by} has the highest ${amount}?`, `average ${amount} per ${by}`, `${sum} for ${cellOf()}`);
		}
		if (dates.length === 1 && !/month/i.test(amount)) list.push(`${sum} per month`);
		list.push(...lacking([columns[value]]), `average ${amount}`);
	}
	return list;
}
