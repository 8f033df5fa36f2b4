import Switchyard
import Synchronization

/// Where a device keeps its session, so that the next client on the device finds it: in memory, or in a file.
public final class MockSessionStore: Sendable {
    struct Kept: Sendable, Codable {
        let refreshToken: String
        let userID: String
        /// Only what a screen needs before the network is asked.
        let displayName: String?
        let email: String?
        let isAnonymous: Bool
    }

    private struct State {
        var kept: Kept?
        var isRead = false
        var isLocked = false
        var listeners: [@Sendable () -> Void] = []
    }
    private let state: Mutex<State>
    private let file: MockFile?

    /// In memory: outlasts clients, not the process.
    public convenience init() { self.init(file: nil) }

    init(file: MockFile?) {
        self.file = file
        state = Mutex(State())
    }

    /// Whether the device protects the session right now, as before its first unlock.
    public var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set {
            let listeners = state.withLock { state in
                state.isLocked = newValue
                return state.listeners
            }
            for listener in listeners { listener() }
        }
    }

    func onLockChange(_ listener: @escaping @Sendable () -> Void) { state.withLock { $0.listeners.append(listener) } }

    /// - Throws: `.localStore` if the file is damaged; it has been set aside then.
    func read() throws(AuthError) -> Kept? {
        try state.withLock { (state) throws(AuthError) in
            if state.isRead { return state.kept }
            state.isRead = true
            guard let file else { return nil }
            do throws(MockFile.Failure) {
                state.kept = try file.decode(Kept.self)
            } catch {
                throw AuthError(.localStore, error.description)
            }
            return state.kept
        }
    }

    func write(_ kept: Kept?) {
        state.withLock { state in
            state.isRead = true
            state.kept = kept
            // A session that cannot be kept is still a session; it ends with the process.
            try? file?.encode(kept)
        }
    }
}
