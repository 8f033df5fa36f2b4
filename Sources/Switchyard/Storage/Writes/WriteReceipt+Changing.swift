extension WriteReceipt {
    /// The same receipt, with `transform` applied to the server's answer.
    package func mapAcknowledgement(
        _ transform: @escaping @Sendable (Acknowledgement) -> Acknowledgement
    ) -> WriteReceipt {
        let mapState: @Sendable (State) -> State = { state in
            if case .acknowledged(let acknowledgement) = state {
                .acknowledged(transform(acknowledgement))
            } else {
                state
            }
        }
        var mapped: (@Sendable () -> EventStream<State, Never>)?
        if let makeStates { mapped = { makeStates().mapElements(mapState) } }
        var receipt = WriteReceipt(
            batchID, present: present.map(mapState), added: added, lastFailure: lastFailure, makeStates: mapped
        ) { [answer] in
            await answer().map(transform)
        }
        receipt.subject = subject
        return receipt
    }
}
