import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import Synchronization

/// The stream of writes, with one commit per message. It ends at the first failure, and later messages are ignored.
final class WriteStream: ChannelStream {
    private struct State {
        var token: Int64?
        var isOver = false
    }

    private let database: LocalDatabase
    private weak let session: ChannelSession?
    private let caller: LocalCaller
    private let rules: LocalRules
    private let state = Mutex(State())

    init(_ database: LocalDatabase, _ session: ChannelSession, _ caller: LocalCaller, _ rules: LocalRules) {
        self.database = database
        self.session = session
        self.caller = caller
        self.rules = rules
    }

    func end() { state.withLock { $0.isOver = true } }

    func receive(_ message: JSON) {
        let (token, isOver) = state.withLock { ($0.token, $0.isOver) }
        guard !isOver else { return }
        do throws(FirestoreFailure) {
            guard let object = message.object else { throw .invalid("A request is an object.") }
            guard let token else { return try begin(object) }
            let elements = object["writes"]?.array ?? []
            // Clients do not wait for answers: several messages may contain the token that was the newest when they were sent.
            guard let given = object["streamToken"]?.string, WriteStream.isToken(given, upTo: token) else {
                throw .invalid("The stream token is not one of this stream.")
            }
            guard !elements.isEmpty else {
                session?.send([[["streamToken": .string(next())]], ["close"]])
                end()
                return
            }
            let writes = try FirestoreCall.writes(elements, in: database.name)
            let results = try database.commit(writes, by: caller, rules)
            let answer = FirestoreWriteResults(
                results: results.results, commitTime: results.commitTime, streamToken: next())
            session?.send([[answer.firestore(in: database.name)]])
        } catch {
            end()
            session?.send([[error.body]])
        }
    }

    private func begin(_ object: JSONObject) throws(FirestoreFailure) {
        guard object["writes"]?.array?.isEmpty ?? true else {
            throw .invalid("'writes' must not be set on an initial write request.")
        }
        guard object["streamId"] == nil else {
            throw FirestoreFailure(.unimplemented, "Resuming streams is not supported.")
        }
        session?.send([[["streamId": .string(RandomID.make(length: 8)), "streamToken": .string(next())]]])
    }

    /// A new token; earlier ones remain valid.
    private func next() -> String {
        state.withLock { state in
            state.token = (state.token ?? -1) + 1
            return WriteStream.text(state.token ?? 0)
        }
    }

    private static func isToken(_ text: String, upTo newest: Int64) -> Bool {
        guard let bytes = Base64.decode(text), let number = Int64(String(decoding: bytes, as: UTF8.self)) else {
            return false
        }
        return (0...newest).contains(number)
    }

    private static func text(_ token: Int64) -> String { Base64.encode(Array(String(token).utf8)) }
}

/// Simulated faults inside streams, which request faults cannot cause.
package final class StreamFaults: Sendable {
    private struct State {
        var duplicates = 0
        var reorders = 0
        var lies = 0
        var lie = 0
        var isDeaf = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Sends each message of the next `frames` pieces of a back channel twice.
    package func duplicateArrays(inNext frames: Int) { state.withLock { $0.duplicates = frames } }

    /// Sends the messages of the next `frames` pieces with several messages in the wrong order.
    package func reorderArrays(inNext frames: Int) { state.withLock { $0.reorders = frames } }

    /// Sends a wrong number of documents after the next `times` changes of live queries.
    package func misstateCounts(by difference: Int, times: Int = 1) {
        state.withLock { state in
            state.lie = difference
            state.lies = times
        }
    }

    /// Whether streams stay open, but no change arrives. See `LocalFirestore.isDeaf`.
    var isDeaf: Bool {
        get { state.withLock { $0.isDeaf } }
        set { state.withLock { $0.isDeaf = newValue } }
    }

    package func removeAll() { state.withLock { $0 = State() } }

    /// The faults for a piece with several messages, or with one.
    func nextFrameFaults(isReorderable: Bool) -> (duplicates: Bool, reorders: Bool) {
        state.withLock { state in
            let duplicates = state.duplicates > 0
            if duplicates { state.duplicates -= 1 }
            let reorders = isReorderable && state.reorders > 0
            if reorders { state.reorders -= 1 }
            return (duplicates, reorders)
        }
    }

    /// The error of the next count; `nil` for a correct one, which need not be sent.
    func nextFalseCount() -> Int? {
        state.withLock { state in
            guard state.lies > 0 else { return nil }
            state.lies -= 1
            return state.lie
        }
    }
}
