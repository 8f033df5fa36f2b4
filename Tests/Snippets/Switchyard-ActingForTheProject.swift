func forget(_ device: MessagingToken) async throws {}
