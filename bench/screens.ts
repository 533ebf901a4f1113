import type { Screen } from './screen.ts';
import { conversationScreen } from './screens/conversation.ts';
import { customerPage } from './screens/customer-page.ts';
import { inbox } from './screens/inbox.ts';
import { labelQueue } from './screens/label-queue.ts';
import { orderBoard } from './screens/order-board.ts';
import { orderPage } from './screens/order-page.ts';
import { organizationHeader } from './screens/organization-header.ts';
import { originPicker } from './screens/origin-picker.ts';
import { quoteComparison } from './screens/quote-comparison.ts';
import { shipmentBoard } from './screens/shipment-board.ts';

/** The screens of a merchant's back office, the main one first. */
export const screens: readonly Screen[] = [
  orderBoard,
  orderPage,
  customerPage,
  shipmentBoard,
  labelQueue,
  quoteComparison,
  inbox,
  conversationScreen,
  organizationHeader,
  originPicker,
];
