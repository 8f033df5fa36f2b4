import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardFirebase

/// Firestore's calls against a script of exchanges.
final class FirestoreBed: Sendable {
    static let root = "projects/demo/databases/(default)/documents"
    static let time = "2026-11-21T01:54:55.780965Z"

    let transport: ScriptedTransport
    let driver: FirestoreDriver
    var service: FirestoreService { driver.service }

    init(
        _ script: ScriptedExchange..., auth: (any AuthClient)? = nil, appCheck: FirebaseAppCheck? = nil,
        host: String? = nil, emulator: String? = nil, database: String = "(default)", ledger: CollectionPath? = nil,
        locksInTransactions: Bool = false
    ) throws {
        let transport = ScriptedTransport(script)
        self.transport = transport
        var configuration = FirebaseConfiguration(
            project: "demo", apiKey: "the-key", appID: "1:1:web:abc", database: database, writeLedger: ledger,
            usesEmulatorVariables: false)
        if let host { configuration.hosts.firestore = host }
        configuration.emulators.firestore = emulator
        let module = FirebaseModule(configuration, appCheck: appCheck, environment: [:]) { transport }
        let context = try module.clientContext(ModuleContext(auth: auth))
        driver = FirestoreDriver(
            service: FirestoreService(FirestoreDatabase(project: "demo", database: database), context),
            ledger: ledger, locksInTransactions: locksInTransactions)
    }

    func header(_ name: String, _ index: Int) -> String? { transport.requests[index].request.headers[name] }
    func body(_ index: Int) -> JSON { (try? JSON(parsing: transport.requests[index].body)) ?? .null }

    /// What the call fails with; `nil` if it does not.
    func error<Answer>(_ body: () async throws(StorageError) -> Answer) async -> StorageError? {
        do throws(StorageError) {
            _ = try await body()
            return nil
        } catch {
            return error
        }
    }

    // MARK: What a server says

    static func call(_ name: String, _ answer: String, status: Int = 200) -> ScriptedExchange {
        .matching(name) {
            $0.request.url.hasSuffix("/documents:\(name)")
        } reply: { _ in
            .json(answer, status: status)
        }
    }

    static func refusal(_ name: String, _ code: String, status: Int) -> ScriptedExchange {
        call(name, #"{"error":{"code":\#(status),"message":"the reason","status":"\#(code)"}}"#, status: status)
    }

    static func document(_ path: String, _ number: Int = 1) -> String {
        #"{"name":"\#(root)/\#(path)","fields":{"n":{"integerValue":"\#(number)"}},"createTime":"\#(time)","updateTime":"\#(time)"}"#
    }

    static func found(_ path: String) -> ScriptedExchange {
        call("batchGet", #"[{"found":\#(document(path)),"readTime":"\#(time)"}]"#)
    }

    static func committed(_ writes: Int) -> ScriptedExchange {
        let results = Array(repeating: #"{"updateTime":"\#(time)"}"#, count: writes).joined(separator: ",")
        return call("commit", #"{"writeResults":[\#(results)],"commitTime":"\#(time)"}"#)
    }
}
