import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import Synchronization

/// The stream of writes: one message, one commit. It ends at the first that fails, and nothing behind that is carried out.
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
            guard object["streamToken"]?.string == WriteStream.text(token) else {
                throw .invalid("The stream token is not the newest one.")
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

    /// A new token, the only one that is good from now on.
    private func next() -> String {
        state.withLock { state in
            state.token = (state.token ?? -1) + 1
            return WriteStream.text(state.token ?? 0)
        }
    }

    private static func text(_ token: Int64) -> String { Base64.encode(Array(String(token).utf8)) }
}
