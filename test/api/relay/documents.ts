/** relay-compiler looks for this tag; at run time the documents are plain text. */
const graphql = String.raw;

export const orderQuery = graphql`
  query documentsOrderQuery($id: ID!) {
    order(id: $id) {
      id
      status
      notes
      shipment {
        id
        label {
          id
          url
        }
      }
    }
  }
`;

export const updateOrderMutation = graphql`
  mutation documentsUpdateOrderMutation($input: UpdateOrderInput!) {
    updateOrder(input: $input) {
      __typename
      ... on UpdateOrderSuccess {
        order {
          id
          status
          notes
        }
      }
      ... on NotFound {
        message
        missingId
      }
    }
  }
`;

export const sendMessageMutation = graphql`
  mutation documentsSendMessageMutation($input: SendMessageInput!) {
    sendMessage(input: $input) {
      __typename
      ... on SendMessageSuccess {
        sent {
          id
          text
        }
      }
      ... on UserError {
        message
      }
    }
  }
`;

export const nodeQuery = graphql`
  query documentsNodeQuery($id: ID!) {
    node(id: $id) {
      ... on Order {
        status
        notes
      }
    }
  }
`;

export const stuckShipmentsQuery = graphql`
  query documentsStuckShipmentsQuery($after: String) {
    shipments(first: 5, after: $after, status: [WITH_ERROR]) @connection(key: "stuck_shipments") {
      edges {
        node {
          id
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`;

export const labelSubscription = graphql`
  subscription documentsLabelSubscription($id: ID!) {
    shipment(id: $id) {
      id
      status
      label {
        id
      }
    }
  }
`;
