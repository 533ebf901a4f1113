import { Dialog, type DialogProps } from './dialog.tsx';
export const MessageDialog = ({ onClose }: DialogProps) => (
  <Dialog title="…" onClose={onClose}>
    …
  </Dialog>
);
