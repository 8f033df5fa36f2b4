import Switchyard
import SwitchyardMock
import SwitchyardObservation
import SwitchyardTestSupport
import Testing

@MainActor @Suite struct LiveDocumentTests {
    private let network = MockNetwork()
    private let storage: MockStorageClient
    private var document: TypedDocument<Todo> { storage.collection("todos", of: Todo.self).document("milk") }

    init() { storage = MockStorageClient(MockBackend(), network: network) }

    @Test func `A document comes, is edited, and goes`() async throws {
        let live = LiveDocument(document)
        #expect(live.phase.isLoading)
        try await eventually("that there is none") { !live.phase.isLoading && live.value == nil }
        await live.set(Todo(title: "Milk")).value
        try await eventually("the new one") { live.value == Todo(title: "Milk") }
        await live.update(\.done, to: true).value
        try await eventually("the edit") { live.value?.done == true }
        await live.delete().value
        try await eventually("that it is gone") { live.value == nil }
        #expect(live.editError == nil)
    }

    @Test func `An edit shows before the server has it`() async throws {
        try await document.set(Todo(title: "Milk"))
        let live = LiveDocument(document)
        try await eventually("the document") { live.value != nil }
        network.isOnline = false
        let edit = live.update(\.title, to: "Oat milk")
        try await eventually("the edit, pending") { live.value?.title == "Oat milk" && live.hasPendingWrites }
        network.isOnline = true
        await edit.value
        try await eventually("the edit, confirmed") { !live.hasPendingWrites }
    }

    @Test func `An edit that is refused is undone, and says why`() async throws {
        let live = LiveDocument(document)
        await live.update(\.done, to: true).value
        #expect(live.editError?.code == .notFound)
        #expect(live.value == nil)
        await live.set(Todo(title: "Milk")).value
        #expect(live.editError == nil)
    }

    @Test func `A document that does not fit has no value until it does, and says why`() async throws {
        try await storage.setDocument("todos/milk", ["title": 5])
        let live = LiveDocument(document)
        try await eventually("the mismatch") { live.mismatch?.code == .codingFailed }
        #expect(live.value == nil && live.phase.error == nil)
        try await document.set(Todo(title: "Milk"))
        try await eventually("the value") { live.value?.title == "Milk" }
        #expect(live.mismatch == nil)
    }
}
