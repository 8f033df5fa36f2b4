import Switchyard
import Synchronization

/// The engines behind the streams of many clients, each of which serves one request: one engine for each token, from the
/// first stream that is opened with it to the end of the last.
///
/// There is one per token, not per user: streams opened with a token end with it, even if a newer token of the same user is
/// in use.
public final class SharedEngines: Sendable {
    /// Identifies streams that share an engine.
    struct Owner: Hashable, Sendable {
        /// `nil` if the driver has its own credentials.
        let token: Secret?
        let userID: String?
    }

    private struct Entry {
        let client: SyncedStorageClient
        /// Whether the driver was made for this engine; otherwise it is shared with calls.
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

    /// The number of engines.
    package var count: Int { state.withLock { $0.entries.count } }

    func streamCount(of owner: Owner) -> Int { state.withLock { $0.entries[owner]?.streams ?? 0 } }

    /// The driver of the owner's engine, if there is one. Streams see at once what is written through it.
    func driver(of owner: Owner) -> (any SyncDriver)? { state.withLock { $0.entries[owner]?.client.driver } }

    /// Begins a stream.
    ///
    /// - Parameter driver: Used for the engine, or to make its driver, if this is the owner's first stream.
    /// - Returns: The client of the engine; `nil` after ``shutDown()``.
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

    /// Ends all streams with `.shutDown`. Later streams fail with it at once.
    public func shutDown() async {
        let entries = state.withLock { state in
            state.isShutDown = true
            defer { state.entries = [:] }
            return Array(state.entries.values)
        }
        for entry in entries { await entry.end() }
    }
}
