import Synchronization

/// One iteration of a stream that stays with the client it begins on, and counts as a call on that client until its end.
final class LeasedEventSource<Client: Sendable, Element: Sendable, Failure: ClientError>: StreamSource {
    private enum State {
        case new
        case open(any StreamSource<Element, Failure>, lease: Int)
        case over
    }

    private let board: Switchboard<Client>
    private let operation: ClientOperation
    private let open: @Sendable (Client) -> EventStream<Element, Failure>
    private let state = Mutex(State.new)

    init(
        _ board: Switchboard<Client>, _ operation: ClientOperation,
        _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>
    ) {
        self.board = board
        self.operation = operation
        self.open = open
    }

    /// A missing client shows with the first element.
    func begin() async {
        do throws(Failure) { try await source()?.begin() } catch {
            // `next()` throws it again.
        }
    }

    func next() async throws(Failure) -> Element? {
        do throws(Failure) {
            guard let source = try source() else { return nil }
            let element = try await source.next()
            if element == nil { end() }
            return element
        } catch {
            end()
            throw error
        }
    }

    /// - Returns: `nil` after the end.
    private func source() throws(Failure) -> (any StreamSource<Element, Failure>)? {
        let result = state.withLock { state -> Result<(any StreamSource<Element, Failure>)?, Failure> in
            switch state {
            case .new:
                do throws(Failure) {
                    let (connection, lease) = try board.lease(operation, Failure.self)
                    let source = connection.observed(operation, open(connection.client)).makeSource()
                    state = .open(source, lease: lease)
                    return .success(source)
                } catch {
                    return .failure(error)
                }
            case .open(let source, _): return .success(source)
            case .over: return .success(nil)
            }
        }
        return try result.get()
    }

    private func end() {
        let before = state.withLock { state in
            defer { state = .over }
            return state
        }
        if case .open(_, let lease) = before { board.release(lease) }
    }

    deinit { end() }
}
