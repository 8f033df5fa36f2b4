import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// All collections of one name, read by several in the project's name.
@Suite struct PartitionedScanTests {
    private static func storage(
        _ script: ScriptedExchange...
    ) async throws -> (client: any StorageClient, transport: ScriptedTransport) {
        let transport = ScriptedTransport(script)
        let credential = FirebaseCredential.tokens { _ in .init("project", expiresAt: .distantFuture) }
        let configuration = FirebaseConfiguration(
            project: "demo", credential: credential, usesEmulatorVariables: false)
        let module = FirebaseModule(configuration, environment: [:]) { transport }
        return (try await module.makeServerClientFactory(ModuleContext()).makeProjectStorageClient(), transport)
    }

    private static func places(_ paths: [String], next: String? = nil) -> String {
        let places = paths.map { #"{"values":[{"referenceValue":"\#(FirestoreBed.root)/\#($0)"}],"before":true}"# }
        let next = next.map { #","nextPageToken":"\#($0)""# } ?? ""
        return #"{"partitions":[\#(places.joined(separator: ","))]\#(next)}"#
    }

    @Test func `Pages of places are put in order, and the question is what the service takes`() async throws {
        let (client, transport) = try await Self.storage(
            FirestoreBed.call("partitionQuery", Self.places(["a/1/orders/m", "b/1/orders/q"], next: "two")),
            FirestoreBed.call("partitionQuery", Self.places(["a/1/orders/x", "a/2/orders/a"])))
        let found = try await client.dividers(ofGroup: "orders", into: 5)
        #expect(found == ["a/1/orders/m", "a/1/orders/x", "a/2/orders/a", "b/1/orders/q"])
        let bodies = transport.requests.compactMap { try? JSON(parsing: $0.body) }
        let query: JSON = [
            "from": [["collectionId": "orders", "allDescendants": true]],
            "orderBy": [["field": ["fieldPath": "__name__"], "direction": "ASCENDING"]],
        ]
        #expect(
            bodies == [
                ["structuredQuery": query, "partitionCount": "4"],
                ["structuredQuery": query, "partitionCount": "4", "pageToken": "two"],
            ])
        #expect(transport.requests.first?.request.headers["Authorization"] == "Bearer project")
        try transport.verify()
    }

    @Test func `A server that cannot divide is read in one part`() async throws {
        let (client, transport) = try await Self.storage(
            FirestoreBed.refusal("partitionQuery", "UNIMPLEMENTED", status: 501),
            FirestoreBed.call(
                "runQuery",
                #"[{"document":\#(FirestoreBed.document("a/1/orders/m")),"readTime":"\#(FirestoreBed.time)"}]"#))
        let seen = Mutex(0)
        try await client.forEachDocument(Query(group: "orders"), parallel: 4) { _ in seen.withLock { $0 += 1 } }
        #expect(seen.withLock { $0 } == 1)
        try transport.verify()
    }

    @Test func `An answer that makes no sense is an error`() async throws {
        let answers = [
            #"{"partitions":[{"values":[]}]}"#, #"{"partitions":[{"values":[{"integerValue":"1"}]}]}"#, "[]",
        ]
        for answer in answers {
            let (client, _) = try await Self.storage(FirestoreBed.call("partitionQuery", answer))
            await #expect(throws: StorageError.self) { try await client.dividers(ofGroup: "orders", into: 5) }
        }
    }

    // MARK: The local server

    @Test func `The local server divides for the project, and for no one else`() async throws {
        let site = try LocalSite(isOpen: true)
        let module = FirebaseModule(site.configuration, environment: [:]) { CurlTransport() }
        let factory = try await module.makeServerClientFactory(ModuleContext())
        let project = try factory.makeProjectStorageClient()
        let paths = try (0..<1000).map { try StoragePath(validating: "owners/\($0 % 13)/orders/o\($0)") }
        try await project.writeInBulk(paths.map { try .set($0, ["n": 1]) })
        let places = try await project.dividers(ofGroup: "orders", into: 16)
        #expect(places.count == 15 && places == places.sorted() && Set(places).isSubset(of: paths))

        let seen = Mutex<[StoragePath]>([])
        let parts = Mutex<Int?>(nil)
        try await project.forEachDocument(Query(group: "orders"), pageSize: 40, parallel: 4) { document in
            seen.withLock { $0.append(document.path) }
        } reached: { place in
            let text = try JSON(parsing: Array(JSONEncoder().encode(place)))
            parts.withLock { $0 = $0 ?? text["parts"]?.array?.count }
        }
        #expect(seen.withLock { $0.count } == 1000 && Set(seen.withLock { $0 }) == Set(paths))
        #expect(parts.withLock { $0 } == 16)

        let ada = try await site.client()
        #expect(try await ada.dividers(ofGroup: "orders", into: 16).isEmpty)
        let refused = await #expect(throws: Refusal.self) {
            try await Self.ask(site, "Bearer \(site.firebase.idToken(for: "ada"))", #"{"partitionCount":"3"}"#)
        }
        #expect(refused?.status == "PERMISSION_DENIED")
        await ada.shutDown()
        await factory.shutDown()
        await site.firebase.stop()
    }

    @Test(arguments: [
        #"{"from":[{"collectionId":"a"}],"orderBy":[{"field":{"fieldPath":"__name__"}}]}"#,
        #"{"from":[{"collectionId":"a","allDescendants":true}]}"#,
        #"{"from":[{"collectionId":"a","allDescendants":true}],"orderBy":[{"field":{"fieldPath":"n"}}]}"#,
        #"{"from":[{"collectionId":"a","allDescendants":true}],"limit":3,"orderBy":[{"field":{"fieldPath":"__name__"}}]}"#,
    ]) func `The local server refuses what the service cannot divide`(_ query: String) async throws {
        let site = try LocalSite()
        let body = #"{"structuredQuery":\#(query),"partitionCount":"3"}"#
        let refused = await #expect(throws: Refusal.self) { try await Self.ask(site, "Bearer owner", body) }
        #expect(refused?.status == "INVALID_ARGUMENT")
        await site.firebase.stop()
    }

    private struct Refusal: Error {
        let status: String
    }

    private static func ask(_ site: LocalSite, _ authorization: String, _ body: String) async throws {
        let transport = CurlTransport()
        let root = "http://\(site.firebase.host)/v1/projects/\(site.firebase.project)/databases/(default)/documents"
        let response = try await transport.send(
            HTTPRequest(
                .post, root + ":partitionQuery",
                headers: ["Authorization": authorization, "Content-Type": "application/json"], body: Array(body.utf8)))
        await transport.shutDown()
        guard !response.isSuccess else { return }
        throw Refusal(status: try JSON(parsing: response.body)["error"]?["status"]?.string ?? "none")
    }
}
