import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// A project that the environment names, hosted or anybody's own; the README says by which variables. Every check has a
/// namespace of its own there, and every run a person of its own.
struct GivenProject: Sendable {
    let configuration: SupabaseConfiguration

    static let given: GivenProject? = {
        let environment = ProcessInfo.processInfo.environment
        func variable(_ name: String) -> String? {
            environment["SWITCHYARD_SUPABASE_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let url = variable("URL"), let key = variable("KEY") else { return nil }
        return GivenProject(
            configuration: SupabaseConfiguration(
                url: url, key: Secret(key), serviceKey: variable("SERVICE_KEY").map { Secret($0) },
                bucket: variable("BUCKET"), checkInterval: .milliseconds(100)))
    }()

    private static let email = "conformance-\(UInt64.random(in: 0..<UInt64.max))@example.com"
    private static let password: Secret = "correct horse 7 battery"

    /// The same person for all clients, made by the first one: with the service key where addresses have to be confirmed.
    private static let person = Task { () async throws -> Void in
        guard let project = given else { return }
        if let key = project.configuration.serviceKey {
            var request = HTTPRequest(
                .post, "\(project.configuration.url)/auth/v1/admin/users",
                body: JSON.object([
                    "email": .string(email), "password": .string(password.reveal()), "email_confirm": true,
                ]).bytes())
            request.headers = ["Content-Type": "application/json", "apikey": key.reveal()]
            request.headers["Authorization"] = "Bearer \(key.reveal())"
            let transport = CurlTransport()
            _ = try await transport.send(request)
            await transport.shutDown()
        } else {
            let auth = try await SupabaseModule(project.configuration).makeAuthClient(ModuleContext())
            _ = try? await auth.signUp(email: email, password: password)
            await auth.shutDown()
        }
    }

    /// The service key is for making the person only.
    private var module: SupabaseModule {
        var configuration = configuration
        configuration.serviceKey = nil
        return SupabaseModule(configuration)
    }

    func context() async throws -> ModuleContext {
        try await Self.person.value
        let auth = try await module.makeAuthClient(ModuleContext())
        try await auth.signIn(email: Self.email, password: Self.password)
        return ModuleContext(auth: auth)
    }

    func storage() async throws -> any StorageClient { try await module.makeStorageClient(context()) }
    func files() async throws -> any FileStorageClient { try await module.makeFileStorageClient(context()) }
    func messaging() async throws -> any MessagingClient { try await module.makeMessagingClient(context()) }
}

private struct GivenStorage: StorageHarness {
    let features: StorageFeatures = SupabaseHarness.features
    func makeStorageClient() async throws -> any StorageClient { try await #require(GivenProject.given).storage() }
}

private struct GivenFiles: FileHarness {
    static let features: FileFeatures = {
        var capabilities = FileStorageCapabilities()
        capabilities.ranges = true
        capabilities.customMetadata = true
        capabilities.copyAndMove = true
        capabilities.expiringURLs = true
        return FileFeatures(capabilities)
    }()
    var features: FileFeatures { Self.features }
    func makeFileClient() async throws -> any FileStorageClient { try await #require(GivenProject.given).files() }
}

private struct GivenMessaging: MessagingHarness {
    static let features: MessagingFeatures = {
        var features = LocalMessagingSite.features
        features.playsServer = GivenProject.given?.configuration.serviceKey != nil
        return features
    }()
    var features: MessagingFeatures { Self.features }

    func makeMessagingClient() async throws -> any MessagingClient {
        try await #require(GivenProject.given).messaging()
    }
    func payload(_ message: RemoteMessage) throws -> RemotePayload { LocalMessagingSite.payload(message) }
    func send(_ message: RemoteMessage, to token: MessagingToken) async throws {
        try await send(message, .device(token))
    }
    func send(_ message: RemoteMessage, to topic: MessagingTopic) async throws {
        try await send(message, .topic(topic))
    }
    private func send(_ message: RemoteMessage, _ target: SupabaseMessageSender.Target) async throws {
        let sender = try SupabaseMessageSender(#require(GivenProject.given).configuration)
        try await sender.send(title: message.title, body: message.body, data: message.data, to: target)
        await sender.shutDown()
    }
}

/// Without a project there is nothing to check, and nothing to skip.
@Suite struct GivenProjectTests {
    private static func each<Check>(_ checks: [Check], if isGiven: Bool = true) -> [Check] {
        GivenProject.given != nil && isGiven ? checks : []
    }

    @Test(arguments: each(StorageConformance.checks(for: SupabaseHarness.features)))
    func `Documents on the given project`(_ check: StorageCheck) async throws {
        try await check.run(on: GivenStorage())
    }

    @Test(
        arguments: each(
            FileConformance.checks(for: GivenFiles.features), if: GivenProject.given?.configuration.bucket != nil))
    func `Files on the given project`(_ check: FileCheck) async throws { try await check.run(on: GivenFiles()) }

    @Test(arguments: each(MessagingConformance.checks(for: GivenMessaging.features)))
    func `Messaging on the given project`(_ check: MessagingCheck) async throws {
        try await check.run(on: GivenMessaging())
    }
}
