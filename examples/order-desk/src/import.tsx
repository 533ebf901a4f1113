import { Dialog, type DialogProps } from './dialog.tsx';
export const Import = ({ onClose }: DialogProps) => (
  <Dialog title="…" onClose={onClose}>
    …
  </Dialog>
);
