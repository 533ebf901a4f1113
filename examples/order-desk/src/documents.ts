import { graphql } from './gql';

/** What a row of the board shows, and what the dialogs need of a selected order. */
export const orderRow = graphql(`
  fragment OrderRow on Order {
    id
    createTime
    status
    referenceId
    contentDescription
    sellingPrice { cents }
    cashOnDelivery { cents }
    recipient {
      fullName
      firstName
      phoneNumber
      address { addressLines locality administrativeArea }
      location { id }
    }
    shipment { id status courier { id code } }
  }
`);

export const boardQuery = graphql(`
  query Board(
    $status: [OrderStatus!]
    $hasShipment: Boolean
    $shipmentStatus: [ShipmentStatus!]
    $search: String
    $after: String
  ) {
    orders(
      first: 50
      status: $status
      hasShipment: $hasShipment
      shipmentStatus: $shipmentStatus
      search: $search
      after: $after
    ) {
      edges { cursor node { ...OrderRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** Streams of filters that REST does not have are refused. So the board watches the rows on the screen by their ids. */
export const liveSubscription = graphql(`
  subscription Live($ids: [ID!]!) { nodes(ids: $ids) { ...OrderRow } }
`);

/** Reads the rows again whose shipments could not be read. */
export const rowsQuery = graphql(`
  query Rows($ids: [ID!]!) { nodes(ids: $ids) { ...OrderRow } }
`);

export const originsQuery = graphql(`
  query Origins { origins(first: 100) { nodes { id address { addressLines } location { id locality } } } }
`);

export const createQuoteMutation = graphql(`
  mutation CreateQuote($input: CreateQuoteInput!) {
    createQuote(input: $input) {
      ... on CreateQuoteSuccess { quote { id offers { ...OfferParts } } }
      ... on UserError { message }
      ... on InvalidInput { fields { path code limit message } }
    }
  }
  fragment OfferParts on Offer {
    available
    status
    courier { id code }
    shipmentCost { cents }
    estimatedDeliveryOperatingDays
  }
`);

/** All offers of 100 orders were too many `nodes` for one operation. */
export const shipOrdersMutation = graphql(`
  mutation ShipOrders($inputs: [ShipOrderInput!]!) {
    shipOrders(inputs: $inputs) {
      ... on ShipOrderSuccess { order { ...OrderRow } shipment { id courier { id code } totalCost { cents } } }
      ... on InvalidInput { fields { path code limit message } }
      ... on NoOffer { noOfferReason: reason quote { id cheapestOffer { ...OfferParts } } }
      ... on Conflict { conflictReason: reason }
      ... on UserError { message }
    }
  }
`);

/** A mutation cannot return it. */
export const balanceQuery = graphql(`
  query Balance { organization { id balance { cents } creditLimit { cents } } }
`);

export const printMutation = graphql(`
  mutation Print($input: CreateLabelDocumentInput!) {
    createLabelDocument(input: $input) {
      ... on CreateLabelDocumentSuccess {
        document { url expireTime pageCount labelCount entries { shipmentId outcome message page } }
      }
      ... on InvalidInput { fields { path code limit message } }
      ... on UserError { message }
    }
  }
`);

export const locationsQuery = graphql(`
  query Locations($search: String!) {
    locations(search: $search, first: 100) { nodes { id locality administrativeArea } }
  }
`);

export const createOrdersMutation = graphql(`
  mutation CreateOrders($inputs: [CreateOrderInput!]!) {
    createOrders(inputs: $inputs) {
      ... on CreateOrderSuccess { order { ...OrderRow } }
      ... on InvalidInput { fields { path code limit message } }
      ... on Conflict { conflictReason: reason }
      ... on UserError { message }
    }
  }
`);

export const orderByReferenceQuery = graphql(`
  query OrderByReference($referenceId: String!) {
    orderByReference(referenceId: $referenceId) { ...OrderRow }
  }
`);

export const channelsQuery = graphql(`
  query Channels {
    channels(first: 5) {
      nodes {
        id
        type
        phoneNumber
        active
        templates(first: 50) { nodes { ...TemplateParts } }
      }
    }
  }
  fragment TemplateParts on Template {
    name
    language
    header { text parameters { name example } }
    body { text parameters { name example } }
    footer
  }
`);

/** The graph has no mutation that sends to many phone numbers, and none that sends a template to one. */
export const sendMutation = graphql(`
  mutation Send($input: SendMessageToPhoneInput!) {
    sendMessageToPhone(input: $input) {
      ... on SendMessageSuccess { sent { id status } }
      ... on InvalidInput { fields { path code limit message } }
      ... on Conflict { conflictReason: reason }
      ... on UserError { message }
    }
  }
`);
