/** What `GET /api/agent/capabilities` answers: AG-UI's own shape. */
export type { AgentCapabilities } from '@ag-ui/core';
