extension WriteReceipt {
    /// Where a write is between this device and the server.
    public enum State: Sendable, Hashable {
        /// Saved on this device. It has not been sent, or the last attempt to send it has failed.
        case local
        /// On its way to the server, which has not answered yet.
        case sent
        /// The server has committed it.
        case acknowledged(Acknowledgement)
        /// Merged into a later write before it was sent; the server never sees it by itself.
        ///
        /// - Parameter by: The ``WriteReceipt/batchID`` of the later write.
        case superseded(by: String)
        /// The server has rejected it, or it was taken out of the queue (`.cancelled`). Its local effect is undone.
        case rejected(StorageError)

        /// Whether the server has committed it, at whatever time.
        public var isAcknowledged: Bool { if case .acknowledged = self { true } else { false } }

        /// Whether no other state follows.
        public var isFinal: Bool {
            switch self {
            case .local, .sent: false
            case .acknowledged, .superseded, .rejected: true
            }
        }
    }

    /// The write's state now, and each one that follows, up to a final one.
    ///
    /// The usual way is *local, sent, acknowledged*; a lost connection leads back to *local*. A client without a queue has the
    /// answer when it returns the receipt, so there is one state. The stream ends early if the client is shut down: a write
    /// that is on disk is sent later, and no one is there to see it.
    ///
    /// ```swift
    /// for await state in receipt.states { show(state) }
    /// ```
    public var states: EventStream<State, Never> {
        if let present { return .only(present) }
        return makeStates?() ?? answeredStates
    }

    /// For a provider that tells no more than the answer.
    private var answeredStates: EventStream<State, Never> {
        EventStream { [answer] continuation in
            continuation.yield(.local)
            let waiting = Task {
                let state = State(answer: await answer())
                if !Task.isCancelled, let state { continuation.yield(state) }
                continuation.finish()
            }
            return { waiting.cancel() }
        }
    }
}

extension WriteReceipt.State {
    /// The same state, with the operation at the beginning of an error's message.
    func named(_ operation: ClientOperation) -> WriteReceipt.State {
        if case .rejected(let error) = self { .rejected(error.named(operation)) } else { self }
    }

    /// - Returns: `nil` if the answer says only that the client was shut down.
    package init?(answer: Result<WriteReceipt.Acknowledgement, StorageError>) {
        switch answer {
        case .success(let acknowledgement): self = .acknowledged(acknowledgement)
        case .failure(let error):
            if error.code == .shutDown { return nil }
            self = .rejected(error)
        }
    }
}

extension WriteReceipt.State: CustomStringConvertible {
    public var description: String {
        switch self {
        case .local: "local"
        case .sent: "sent"
        case .acknowledged(let acknowledgement): "\(acknowledgement)"
        case .superseded(let later): "superseded by \(later)"
        case .rejected(let error): "rejected (\(error.code)): \(error.message)"
        }
    }
}

extension WriteReceipt: Hashable {
    /// Receipts are equal if they are of the same batch.
    public static func == (left: WriteReceipt, right: WriteReceipt) -> Bool { left.batchID == right.batchID }
    public func hash(into hasher: inout Hasher) { hasher.combine(batchID) }
}

extension EventStream where Failure == Never {
    /// A single element, and the end.
    fileprivate static func only(_ element: Element) -> EventStream {
        EventStream { continuation in
            continuation.yield(element)
            continuation.finish()
            return {}
        }
    }
}
