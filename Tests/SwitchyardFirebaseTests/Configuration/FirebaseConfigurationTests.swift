import Foundation
import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

@Suite struct FirebaseConfigurationTests {
    @Test func `A file names what differs from the defaults, and takes secrets from the environment`() throws {
        let json = """
            { "default": "firebase", "providers": { "firebase": {
                "project": "demo", "apiKey": "${KEY}", "writeLedger": "ledger", "emulators": { "auth": "127.0.0.1:9099" },
                "hosts": { "storage": "https://files.example" } } } }
            """
        let configuration = try InfrastructureConfiguration(json: Data(json.utf8), environment: ["KEY": "secret"])
        #expect(configuration.selection.default == .firebase)
        let settings = """
            {"project":"demo","apiKey":"k","writeLedger":"ledger","hosts":{"storage":"https://files.example"}}
            """
        let decoded = try JSONDecoder().decode(FirebaseConfiguration.self, from: Data(settings.utf8))
        #expect(decoded.writeLedger == "ledger")
        #expect(decoded.database == "(default)")
        #expect(decoded.hosts.storage == "https://files.example")
        #expect(decoded.hosts.firestore == "https://firestore.googleapis.com")
        let plain = try JSONEncoder().encode(decoded)
        #expect(!String(decoding: plain, as: UTF8.self).contains("\"k\""), "a secret is encoded as a reference")
    }

    @Test func `A ledger that is no collection is refused with its place`() throws {
        let settings = Data(#"{"project":"demo","apiKey":"k","writeLedger":"a/b"}"#.utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(FirebaseConfiguration.self, from: settings) }
    }

    @Test func `The key is in no description`() {
        let configuration = FirebaseConfiguration(project: "demo", apiKey: Secret("AIza-very-secret"))
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("very-secret"))
        #expect(!"\(configuration)".contains("very-secret"))
    }

    // MARK: Files of the console

    static let android = """
        {"project_info":{"project_number":"123","project_id":"demo","storage_bucket":"demo.appspot.com"},
         "client":[{"client_info":{"mobilesdk_app_id":"1:123:android:a","android_client_info":{"package_name":"com.a"}},
                    "api_key":[{"current_key":"AIzaA"}]},
                   {"client_info":{"mobilesdk_app_id":"1:123:android:b","android_client_info":{"package_name":"com.b"}},
                    "api_key":[{"current_key":"AIzaB"}]}],"configuration_version":"1"}
        """
    static let apple = """
        {"API_KEY":"AIzaC","GCM_SENDER_ID":"123","PLIST_VERSION":"1","BUNDLE_ID":"com.c","PROJECT_ID":"demo",
         "STORAGE_BUCKET":"demo.firebasestorage.app","IS_ANALYTICS_ENABLED":false,"GOOGLE_APP_ID":"1:123:ios:c"}
        """
    static let web = """
        {"apiKey":"AIzaW","authDomain":"demo.firebaseapp.com","projectId":"demo","storageBucket":"demo.appspot.com",
         "messagingSenderId":"123","appId":"1:123:web:w","measurementId":"G-1"}
        """
    static let propertyList = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict><key>API_KEY</key><string>AIzaC</string><key>PROJECT_ID</key><string>demo</string>
        <key>IS_ADS_ENABLED</key><false/><key>GOOGLE_APP_ID</key><string>1:123:ios:c</string>
        <key>BUNDLE_ID</key><string>com.c</string></dict></plist>
        """

    @Test func `The Android file is read for the app that is asked for`() throws {
        let configuration = try FirebaseConfiguration(appFile: Data(Self.android.utf8), app: "com.b")
        #expect(configuration.project == "demo")
        #expect(configuration.apiKey == "AIzaB")
        #expect(configuration.appID == "1:123:android:b")
        #expect(configuration.senderID == "123")
        #expect(configuration.bucket == "demo.appspot.com")
    }

    @Test func `The Apple file is read as JSON and as a property list`() throws {
        for text in [Self.apple, Self.propertyList] {
            let configuration = try FirebaseConfiguration(appFile: Data(text.utf8))
            #expect(configuration.project == "demo")
            #expect(configuration.apiKey == "AIzaC")
            #expect(configuration.appID == "1:123:ios:c")
            #expect(configuration.bundleID == "com.c")
        }
    }

    @Test func `The settings of a web app, and one's own, are read`() throws {
        let web = try FirebaseConfiguration(appFile: Data(Self.web.utf8))
        #expect(web.appID == "1:123:web:w")
        #expect(web.senderID == "123")
        let own = try FirebaseConfiguration(appFile: Data(#"{"project":"demo","apiKey":"k","bucket":"b"}"#.utf8))
        #expect(own.bucket == "b")
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"projectId":"demo"}"#, #"{"project_info":{"project_id":"demo"},"client":[]}"#,
        #"{"PROJECT_ID":"demo"}"#, "<?xml version='1.0'?><plist/>", android,
    ])
    func `A file that lacks something is refused`(_ text: String) {
        let error = #expect(throws: InfrastructureError.self) { try FirebaseConfiguration(appFile: Data(text.utf8)) }
        #expect(error?.code == .invalidConfiguration)
    }

    // MARK: Where the services are

    @Test func `An emulator is taken from the settings, else from the environment`() throws {
        var configuration = FirebaseConfiguration(project: "demo", apiKey: "k")
        configuration.emulators.auth = "localhost:1"
        let environment = [
            "FIRESTORE_EMULATOR_HOST": "127.0.0.1:2", "FIREBASE_AUTH_EMULATOR_HOST": "127.0.0.1:3",
            "FIREBASE_STORAGE_EMULATOR_HOST": "",
        ]
        let endpoints = try FirebaseEndpoints(configuration, environment: environment)
        #expect(endpoints.firestore.address == "http://127.0.0.1:2")
        #expect(endpoints.identityToolkit.address == "http://localhost:1/identitytoolkit.googleapis.com")
        #expect(endpoints.secureToken.address == "http://localhost:1/securetoken.googleapis.com")
        #expect(endpoints.storage.address == "https://firebasestorage.googleapis.com")
        #expect(endpoints.firestore.isEmulator && !endpoints.storage.isEmulator)
        configuration.usesEmulatorVariables = false
        let plain = try FirebaseEndpoints(configuration, environment: environment)
        #expect(plain.firestore.address == "https://firestore.googleapis.com")
    }

    @Test(arguments: [
        ("https://example.com", true), ("http://127.0.0.1:80", true), ("http://127.9.9.9", true),
        ("http://localhost:8080", true), ("http://[::1]:8080", true), ("http://example.com", false),
        ("http://127.0.0.1.example.com", false), ("http://10.0.0.1", false), ("http://localhost.example.com", false),
    ])
    func `Tokens travel over TLS or to this machine only`(_ host: String, _ mayCarryTokens: Bool) throws {
        #expect(try FirebaseEndpoint(host: host).mayCarryTokens == mayCarryTokens)
    }

    @Test func `Tokens travel to a machine of a private network where the configuration names it`() throws {
        let json =
            #"{"project":"demo","apiKey":"k","allowsPlainHTTPTo":"192.168.1.20","#
            + #""emulators":{"firestore":"192.168.1.20:8080","auth":"192.168.1.21:9099"}}"#
        let configuration = try JSONDecoder().decode(FirebaseConfiguration.self, from: Data(json.utf8))
        let endpoints = try FirebaseEndpoints(configuration, environment: [:])
        #expect(endpoints.firestore.mayCarryTokens && !endpoints.identityToolkit.mayCarryTokens)
        var wrong = configuration
        wrong.allowsPlainHTTPTo = "example.com"
        let error = #expect(throws: InfrastructureError.self) { try FirebaseModule(wrong).validate() }
        #expect(error?.message.contains("“example.com” is not one. Use https there") == true)
    }

    @Test(arguments: ["example.com", "ftp://example.com", "https://example.com/", "https://u:p@example.com", ""])
    func `An address that is not valid is refused before any client is made`(_ host: String) {
        var configuration = FirebaseConfiguration(project: "demo", apiKey: "k")
        configuration.hosts.firestore = host
        let error = #expect(throws: InfrastructureError.self) { try FirebaseModule(configuration).validate() }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test(arguments: ["127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080/"])
    func `An emulator is named by host and port, or by the address that has them`(_ address: String) throws {
        var configuration = FirebaseConfiguration(project: "demo", apiKey: "k")
        configuration.emulators = FirebaseConfiguration.Emulators(firestore: address, auth: address)
        let endpoints = try FirebaseEndpoints(configuration, environment: [:])
        #expect(endpoints.firestore.address == "http://127.0.0.1:8080" && endpoints.firestore.isEmulator)
        #expect(endpoints.identityToolkit.address == "http://127.0.0.1:8080/identitytoolkit.googleapis.com")
    }

    @Test(arguments: [
        "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080?x", "127.0.0.1:port", "http://", "a b", "127.0.0.1",
        "localhost/", "",
    ])
    func `An emulator's address that is none is reported with its key and an example`(_ address: String) {
        var configuration = FirebaseConfiguration(project: "demo", apiKey: "k", usesEmulatorVariables: false)
        configuration.emulators.firestore = address
        let error = #expect(throws: InfrastructureError.self) { try FirebaseModule(configuration).validate() }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.hasPrefix("Firebase's configuration, at “emulators.firestore”: “\(address)”") == true)
        #expect(error?.message.hasSuffix("Write host:port, such as “127.0.0.1:8080”.") == true)
        // An empty variable is none.
        if address.isEmpty { return }
        let environment = ["FIREBASE_AUTH_EMULATOR_HOST": address]
        let fromVariable = #expect(throws: InfrastructureError.self) {
            try FirebaseEndpoints(FirebaseConfiguration(project: "demo", apiKey: "k"), environment: environment)
        }
        #expect(fromVariable?.message.hasPrefix("The variable FIREBASE_AUTH_EMULATOR_HOST: “\(address)”") == true)
    }

    @Test func `A host that is no address is reported with its key`() {
        var configuration = FirebaseConfiguration(project: "demo", apiKey: "k", usesEmulatorVariables: false)
        configuration.hosts.secureToken = "example.com"
        let error = #expect(throws: InfrastructureError.self) { try FirebaseModule(configuration).validate() }
        #expect(error?.message.hasPrefix("Firebase's configuration, at “hosts.secureToken”: “example.com”") == true)
    }

    @Test(arguments: ["", "a/b", "a b"]) func `A project that is no ID is refused`(_ project: String) {
        let configuration = FirebaseConfiguration(project: project, apiKey: "k")
        #expect(throws: InfrastructureError.self) { try FirebaseModule(configuration).validate() }
    }

    @Test func `An App Check source survives settings of a file`() async throws {
        let module = FirebaseModule(
            FirebaseConfiguration(project: "demo", apiKey: "k"), appCheck: .fixed("app"), environment: [:]
        ) { ScriptedTransport() }
        let changed = module.reconfigured(FirebaseConfiguration(project: "other", apiKey: "k"))
        let context = try changed.clientContext(ModuleContext())
        #expect(context.configuration.project == "other")
        let credentials = try await context.tokens.credentials(for: context.endpoints.firestore)
        #expect(credentials.app == "app")
    }
}
