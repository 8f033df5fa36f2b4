import Synchronization

/// Streams that move over to the next client without their consumer noticing.
extension Switchboard {
    /// - Parameter rebase: Adapts a snapshot to the last one the consumer saw, so that its changes are right after a move.
    func snapshots<Element: Sendable, Failure: Error>(
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>,
        rebase: @escaping @Sendable (_ last: Element, _ new: Element) -> Element = { $1 },
        naming: @escaping @Sendable (Failure) -> Failure = { $0 }
    ) -> SnapshotStream<Element, Failure> {
        SnapshotStream { continuation in
            let last = Mutex<Element?>(nil)
            let moved = Mutex(false)
            return self.forward(open) {
                moved.withLock { $0 = true }
            } deliver: { element in
                // Only one task delivers at a time, so no other delivery can come between these two steps.
                let hasMoved = moved.withLock { moved in
                    defer { moved = false }
                    return moved
                }
                let seen = last.withLock { $0 }
                let fitted = hasMoved ? seen.map { rebase($0, element) } ?? element : element
                last.withLock { $0 = fitted }
                continuation.yield(fitted)
            } finish: { end in
                switch end {
                case .success: continuation.finish()
                case .failure(let error): continuation.finish(throwing: naming(error))
                }
            }
        }
    }

    func events<Element: Sendable, Failure: Error>(
        _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>,
        naming: @escaping @Sendable (Failure) -> Failure = { $0 }
    ) -> EventStream<Element, Failure> {
        EventStream.announced { continuation in
            self.forward { client in
                let stream = await open(client).begun()
                // A stream that a switch has ended is not subscribed; the next one announces.
                if !Task.isCancelled { continuation.announce() }
                return stream
            } moving: {
            } deliver: {
                continuation.yield($0)
            } finish: { end in
                switch end {
                case .success: continuation.finish()
                case .failure(let error): continuation.finish(throwing: naming(error))
                }
            }
        }
    }

    /// Runs one stream after the other: the next begins only after the previous one has ended, so that no old element can
    /// follow a new one. Only the end of the current client's stream ends the whole.
    private func forward<Stream: AsyncSequence & Sendable>(
        _ open: @escaping @Sendable (Client) async -> Stream, moving: @escaping @Sendable () -> Void,
        deliver: @escaping @Sendable (Stream.Element) -> Void,
        finish: @escaping @Sendable (Result<Void, Stream.Failure>) -> Void
    ) -> @Sendable () -> Void where Stream.Element: Sendable {
        let present = Mutex(Present())
        // A switch is made by another task, whose request is another one.
        let request = RequestMembership()
        let unfollow = follow { client, generation in
            present.withLock { present in
                guard !present.isOver, generation > present.generation else { return }
                present.generation = generation
                let before = present.task
                before?.cancel()
                present.task = Task {
                    if let before {
                        await before.value
                        moving()
                    }
                    await request.run {
                        do throws(Stream.Failure) {
                            for try await element in await open(client) {
                                if Task.isCancelled { return }
                                deliver(element)
                            }
                            if !Task.isCancelled { finish(.success(())) }
                        } catch {
                            if !Task.isCancelled { finish(.failure(error)) }
                        }
                    }
                }
            }
        }
        return {
            unfollow()
            let last = present.withLock { present in
                present.isOver = true
                return present.task
            }
            last?.cancel()
        }
    }
}

/// The task of a stream, and the generation of its client.
private struct Present {
    var task: Task<Void, Never>?
    var generation = -1
    /// Whether the consumer has stopped; nothing begins after that.
    var isOver = false
}
