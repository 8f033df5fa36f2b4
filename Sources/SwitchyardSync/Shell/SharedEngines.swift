import Switchyard
import Synchronization

/// The engines behind the streams of many clients, each of which serves one request: one engine for each token, from the
/// first stream that is opened with it to the end of the last.
///
/// They go by the token, not by its user: what one token has opened ends with that token, even if a newer one of the same
/// person is in use.
public final class SharedEngines: Sendable {
    /// Whose streams share an engine.
    struct Owner: Hashable, Sendable {
        /// `nil` where the driver's own credentials say all there is to say.
        let token: Secret?
        let userID: String?
    }

    private struct Entry {
        let client: SyncedStorageClient
        /// Whether the driver was made for this engine; else it serves the next call.
        let ownsDriver: Bool
        var streams = 1

        func end() async {
            await client.engine.shutDown()
            if ownsDriver { await client.driver.shutDown() }
        }
    }

    private struct State {
        var entries: [Owner: Entry] = [:]
        var isShutDown = false
    }

    private let state = Mutex(State())

    public init() {}

    /// How many there are.
    package var count: Int { state.withLock { $0.entries.count } }

    func streamCount(of owner: Owner) -> Int { state.withLock { $0.entries[owner]?.streams ?? 0 } }

    /// The driver of the owner's engine, if there is one. Streams see at once what is written through it.
    func driver(of owner: Owner) -> (any SyncDriver)? { state.withLock { $0.entries[owner]?.client.driver } }

    /// Begins a stream.
    ///
    /// - Parameter driver: Serves the engine, or makes the one that does, if this is the owner's first stream.
    /// - Returns: Whom to ask; `nil` after ``shutDown()``.
    func enter(
        _ owner: Owner, by driver: any SyncDriver, clock: any Clock<Duration>, observer: any InfrastructureObserver
    ) -> SyncedStorageClient? {
        state.withLock { state in
            guard !state.isShutDown else { return nil }
            if let client = state.entries[owner]?.client {
                state.entries[owner]?.streams += 1
                return client
            }
            let own = driver.makeStreamDriver()
            let client = SyncedStorageClient(ofOneSession: own ?? driver, clock: clock, observer: observer)
            state.entries[owner] = Entry(client: client, ownsDriver: own != nil)
            return client
        }
    }

    /// Ends a stream.
    ///
    /// - Parameter client: What ``enter(_:by:clock:observer:)`` returned.
    func leave(_ owner: Owner, _ client: SyncedStorageClient) async {
        let last = state.withLock { state -> Entry? in
            guard state.entries[owner]?.client === client else { return nil }
            state.entries[owner]?.streams -= 1
            guard state.entries[owner]?.streams == 0 else { return nil }
            return state.entries.removeValue(forKey: owner)
        }
        await last?.end()
    }

    /// Ends all streams with `.shutDown`. Later ones end with it at once.
    public func shutDown() async {
        let entries = state.withLock { state in
            state.isShutDown = true
            defer { state.entries = [:] }
            return Array(state.entries.values)
        }
        for entry in entries { await entry.end() }
    }
}
