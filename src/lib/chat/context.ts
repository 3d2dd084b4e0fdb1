/** How components reach the shared state without a module that keeps it. */
import { createContext } from 'svelte';
import type { ChatApp } from './app.svelte.ts';

export const [getApp, setApp] = createContext<ChatApp>();
