import Synchronization

/// One iteration of a stream that stays with the client it begins on, and counts as a call on that client until its end.
final class LeasedEventSource<Client: Sendable, Element: Sendable, Failure: Error>: StreamSource {
    private enum State {
        case new
        case open(any StreamSource<Element, Failure>, lease: Int)
        case over
    }

    private let board: Switchboard<Client>
    private let open: @Sendable (Client) -> EventStream<Element, Failure>
    private let state = Mutex(State.new)

    init(_ board: Switchboard<Client>, _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>) {
        self.board = board
        self.open = open
    }

    func begin() async { await source()?.begin() }

    func next() async throws(Failure) -> Element? {
        guard let source = source() else { return nil }
        do throws(Failure) {
            let element = try await source.next()
            if element == nil { end() }
            return element
        } catch {
            end()
            throw error
        }
    }

    /// - Returns: `nil` after the end.
    private func source() -> (any StreamSource<Element, Failure>)? {
        state.withLock { state in
            switch state {
            case .new:
                let (client, lease) = board.lease()
                let source = open(client).makeSource()
                state = .open(source, lease: lease)
                return source
            case .open(let source, _): return source
            case .over: return nil
            }
        }
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
