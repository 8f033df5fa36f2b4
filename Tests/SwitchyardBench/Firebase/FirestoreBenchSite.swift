#if os(Linux)
    import Switchyard
    import SwitchyardBytes
    import SwitchyardFirebase
    import SwitchyardTestSupport
    import SwitchyardWire

    /// A project on the real Firestore emulator, and the bodies that a bare client sends to it.
    struct FirestoreBenchSite: Sendable {
        let port: Int
        let project: String
        private let emulator: FirestoreEmulator?

        static func start() async throws -> FirestoreBenchSite {
            guard FirestoreEmulator.isInstalled else { throw BenchFailure("the Firestore emulator is not installed") }
            let emulator = try await FirestoreEmulator.running()
            return FirestoreBenchSite(port: emulator.port, project: emulator.newProject(), emulator: emulator)
        }

        /// The site of the parent process, for a child of it.
        init(port: Int, project: String) { self.init(port: port, project: project, emulator: nil) }

        private init(port: Int, project: String, emulator: FirestoreEmulator?) {
            self.port = port
            self.project = project
            self.emulator = emulator
        }

        func stop() { emulator?.kill() }

        private var configuration: FirebaseConfiguration {
            FirebaseConfiguration(
                project: project, apiKey: "bench",
                emulators: FirebaseConfiguration.Emulators(firestore: "127.0.0.1:\(port)"),
                usesEmulatorVariables: false)
        }

        func client() async throws -> any StorageClient {
            try await FirebaseModule(configuration).makeStorageClient(ModuleContext())
        }

        /// Clients for acting for callers and for the project.
        func backend() async throws -> Infrastructure {
            try await Infrastructure(FirebaseModule(configuration))
        }

        var database: String { "projects/\(project)/databases/(default)" }
        var origin: String { "http://127.0.0.1:\(port)" }
        func url(_ call: String) -> String { "\(origin)/v1/\(database)/documents:\(call)" }
        func name(_ path: StoragePath) -> JSON { .string("\(database)/documents/\(path)") }

        func getBody(_ path: StoragePath) -> [UInt8] { JSON.object(["documents": [name(path)]]).bytes() }

        func setBody(_ paths: [StoragePath], _ number: Int) -> [UInt8] {
            let fields: JSON = [
                "number": ["integerValue": .string("\(number)")], "name": ["stringValue": "Alice"],
                "isActive": ["booleanValue": true],
            ]
            let writes = paths.map { JSON.object(["update": ["name": name($0), "fields": fields]]) }
            return JSON.object(["writes": .array(writes)]).bytes()
        }

        /// The query for a whole collection, as the adapter sends it.
        func queryBody(_ collection: String) -> [UInt8] {
            JSON.object([
                "structuredQuery": [
                    "from": [["collectionId": .string(collection)]],
                    "orderBy": [["field": ["fieldPath": "__name__"], "direction": "ASCENDING"]],
                ]
            ]).bytes()
        }
    }
#endif
