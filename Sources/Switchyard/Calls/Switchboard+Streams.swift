import Synchronization

/// Streams that move over to the next client without their consumer noticing.
extension Switchboard {
    /// - Parameter rebase: Adapts a snapshot to the last one the consumer saw, so that its changes are right after a move.
    func snapshots<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, rebase: @escaping @Sendable (_ last: Element, _ new: Element) -> Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        states(rebase: rebase) { target in
            switch target {
            case .connection(let connection): connection.observed(operation, open(connection.client))
            case .refusal(let refusal): .failing(refusal.error(operation))
            }
        }
    }

    func states<Element: Sendable>(
        _ operation: ClientOperation, absent: Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Never>
    ) -> SnapshotStream<Element, Never> {
        states(rebase: { $1 }) { target in
            switch target {
            case .connection(let connection): connection.observed(operation, open(connection.client))
            case .refusal: .only(absent)
            }
        }
    }

    private func states<Element: Sendable, Failure: Error>(
        rebase: @escaping @Sendable (_ last: Element, _ new: Element) -> Element,
        _ open: @escaping @Sendable (Target) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        SnapshotStream { continuation in
            let last = Mutex<(element: Element?, hasMoved: Bool)>((nil, false))
            return self.forward(open) {
                last.withLock { $0.hasMoved = true }
            } deliver: { element in
                // One task delivers at a time, so no other delivery can come between these two steps.
                let seen = last.withLock { $0.hasMoved ? $0.element : nil }
                let fitted = seen.map { rebase($0, element) } ?? element
                last.withLock { $0 = (fitted, false) }
                continuation.yield(fitted)
            } finish: { end in
                switch end {
                case .success: continuation.finish()
                case .failure(let error): continuation.finish(throwing: error)
                }
            }
        }
    }

    func events<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> {
        EventStream.announced { continuation in
            self.forward { (target: Target) async -> EventStream<Element, Failure> in
                let stream: EventStream<Element, Failure>
                switch target {
                case .connection(let connection): stream = connection.observed(operation, open(connection.client))
                case .refusal(let refusal): stream = .failing(refusal.error(operation))
                }
                let begun = await stream.begun()
                // A stream that a switch has ended is not subscribed; the next one announces.
                if !Task.isCancelled { continuation.announce() }
                return begun
            } moving: {
            } deliver: {
                continuation.yield($0)
            } finish: { end in
                switch end {
                case .success: continuation.finish()
                case .failure(let error): continuation.finish(throwing: error)
                }
            }
        }
    }

    /// Runs one stream after the other: the next begins only after the previous one has ended, so that no old element can
    /// follow a new one. Only the end of the current client's stream ends the whole.
    private func forward<Stream: AsyncSequence & Sendable>(
        _ open: @escaping @Sendable (Target) async -> Stream, moving: @escaping @Sendable () -> Void,
        deliver: @escaping @Sendable (Stream.Element) -> Void,
        finish: @escaping @Sendable (Result<Void, Stream.Failure>) -> Void
    ) -> @Sendable () -> Void where Stream.Element: Sendable {
        let current = Mutex(CurrentStream())
        // A switch is made by another task, whose request is another one.
        let request = RequestMembership()
        let unfollow = follow { target, generation in
            let before = current.withLock { current -> Task<Void, Never>? in
                guard !current.isOver, generation > current.generation else { return nil }
                current.generation = generation
                let before = current.task
                current.task = Task {
                    if let before {
                        await before.value
                        moving()
                    }
                    await request.run {
                        do throws(Stream.Failure) {
                            for try await element in await open(target) {
                                if Task.isCancelled { return }
                                deliver(element)
                            }
                            if !Task.isCancelled { finish(.success(())) }
                        } catch {
                            if !Task.isCancelled { finish(.failure(error)) }
                        }
                    }
                }
                return before
            }
            before?.cancel()
        }
        return {
            unfollow()
            let last = current.withLock { current in
                current.isOver = true
                return current.task
            }
            last?.cancel()
        }
    }
}

/// The task of a stream, and the generation of its client.
private struct CurrentStream {
    var task: Task<Void, Never>?
    var generation = -1
    /// Whether the consumer has stopped; nothing begins after that.
    var isOver = false
}
