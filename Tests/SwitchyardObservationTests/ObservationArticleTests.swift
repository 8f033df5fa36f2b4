import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardObservation
import SwitchyardTestSupport
import Synchronization
import Testing

/// What the article says, done on the mock. Its list of whoever is signed in stands in the tests of the session.
@Suite struct ObservationArticleTests {
    struct Todo: Codable, Sendable, Identifiable {
        @DocumentID var id: String
        var title: String
        var done = false
        @ServerTimestamp var created: Date?
    }

    /// What the article's app shows and writes into its log.
    private final class Screen: Sendable {
        private let shown = Mutex<[String]>([])
        var texts: [String] { shown.withLock { $0 } }
        func add(_ text: String) { shown.withLock { $0.append(text) } }
    }

    private let screen = Screen()
    private func show(_ text: String) { screen.add(text) }
    private func log(_ text: String) { screen.add("log: \(text)") }

    @Test func `A list is shown and edited`() async throws {
        let backend = try await MockBackend().infrastructure(signedInAs: "alice")
        let user = try #require(await backend.auth.currentUser)

        let todos = backend.storage.collection("users").document(user.id).collection("todos", of: Todo.self)
        let open = await LiveQuery(todos.where(\.done, .equal, false).ordered(by: \.created), pageSize: 50)

        @MainActor func finish(_ row: LiveQuery<Todo>.Row) async {
            open.update(row, \.done, to: true)
            row.edit(\.title, to: "Oat milk") { error in log(error.message) }

            await open.update(row, \.done, to: true).value
            if open.editError != nil { show("This could not be saved.") }
        }

        try await todos.document("milk").set(Todo(title: "Milk"))
        try await eventually("the row") { await open.values.map(\.title) == ["Milk"] }
        let row = try #require(await open.rows.first)
        await finish(row)
        try await eventually("no row") { await open.rows.isEmpty }
        #expect(screen.texts.isEmpty)

        let todo = await LiveDocument(todos.document("milk"))
        await todo.update(\.title, to: "Oat milk").value
        if await todo.editError != nil { show("This could not be saved.") }
        #expect(try await todos.document("milk").get()?.title == "Oat milk")
        #expect(screen.texts.isEmpty)

        try await todos.document("milk").delete()
        await finish(row)
        try await eventually("both said") { screen.texts.count == 2 }
        #expect(screen.texts.contains("This could not be saved."))
        #expect(screen.texts.contains { $0.hasPrefix("log: ") })
        await backend.shutDown()
    }

    @Test func `A view model is tested on the mock`() async throws {
        let mock = try await Infrastructure(.mock)
        let list = mock.storage.collection("todos", of: Todo.self)
        try await list.add(Todo(title: "Milk"))
        let query = await LiveQuery(list)
        while await query.rows.isEmpty { await Task.yield() }
        #expect(await query.values.map(\.title) == ["Milk"])
        await mock.shutDown()
    }

    @Test func `Every piece of Swift in the article stands in the tests, line for line`() throws {
        let article = try Article("Sources/SwitchyardObservation/Documentation.docc/SwitchyardObservation.md")
        let elsewhere = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("SessionTests.swift")
        let missing = Set(try article.missing(in: #filePath)).intersection(try article.missing(in: elsewhere.path))
        // There it is one file's own.
        #expect(missing == ["@MainActor final class Lists {"])
    }
}
