import Foundation
import Switchyard
import Testing

@Suite struct ConditionTests {
    enum State: String, Codable, Sendable { case open, late, done }

    struct Place: Codable, Sendable {
        var city: String
        var zip: Int
    }

    struct Todo: Codable, Sendable {
        @DocumentID var id: String?
        var title: String
        var done = false
        var urgent = false
        var priority: Int
        var state: State
        var due: Date?
        var place: Place
        var tags: [String]

        enum CodingKeys: String, CodingKey {
            case id, title, done, urgent, state, due, place, tags
            case priority = "rank"
        }

        var heading: String { title }
    }

    static let path = CollectionPath("todos")
    static let todos = ToyStorage().collection(path, of: Todo.self)
    static let day = Date(timeIntervalSince1970: 86_400)

    /// Queries by conditions, and the same ones written out.
    static let table: [(TypedQuery<Todo>, TypedQuery<Todo>)] = [
        (todos.where { $0.done == false }, todos.where(\.done, .equal, false)),
        (todos.where { $0.done != true }, todos.where(\.done, .notEqual, true)),
        (todos.where { $0.done }, todos.where(\.done, .equal, true)),
        (todos.where { !$0.done }, todos.where(\.done, .equal, false)),
        (todos.where { !($0.done != false) }, todos.where(\.done, .equal, false)),
        (todos.where { $0.priority < 2 }, todos.where("rank", .lessThan, 2)),
        (todos.where { $0.priority <= 2 }, todos.where("rank", .lessThanOrEqual, 2)),
        (todos.where { $0.priority > 2 }, todos.where("rank", .greaterThan, 2)),
        (todos.where { $0.priority >= 2 }, todos.where("rank", .greaterThanOrEqual, 2)),
        (todos.where { $0.place.city == "Oslo" }, todos.where("place.city", .equal, "Oslo")),
        (todos.where { $0.state == .open }, todos.where(\.state, .equal, .open)),
        (todos.where { $0.state.in([.open, .late]) }, todos.where(\.state, .in, [.open, .late])),
        (todos.where { $0.state.notIn([.done]) }, todos.where(\.state, .notIn, [.done])),
        (todos.where { !$0.state.in([.done]) }, todos.where(\.state, .notIn, [.done])),
        (todos.where { $0.tags.contains("new") }, todos.where(\.tags, .arrayContains, "new")),
        (todos.where { $0.tags.contains(anyOf: ["a", "b"]) }, todos.where(\.tags, .arrayContainsAny, ["a", "b"])),
        (todos.where { $0.due == nil }, todos.where(\.due, .isNull)),
        (todos.where { $0.due != nil }, todos.where(\.due, .isNotNull)),
        (todos.where { !($0.due == nil) }, todos.where(\.due, .isNotNull)),
        (todos.where { $0.due < day }, todos.where(\.due, .lessThan, day)),
        (todos.where { $0.id == "a" }, todos.where(\.id, .equal, "a")),
        (
            todos.where { $0.done == false && $0.priority >= 2 && $0.tags.contains("new") },
            todos.where(\.done, .equal, false).where(\.priority, .greaterThanOrEqual, 2)
                .where(\.tags, .arrayContains, "new")
        ),
        (
            todos.where { $0.done || $0.priority > 2 || $0.state == .late },
            todos.where(
                .any([
                    .field("done", .equal, true), .field("rank", .greaterThan, 2), .field("state", .equal, "late"),
                ]))
        ),
        (
            todos.where { $0.urgent && ($0.done || $0.priority < 2) },
            todos.where(\.urgent, .equal, true).where(
                .any([.field("done", .equal, true), .field("rank", .lessThan, 2)]))
        ),
        (
            todos.where { !($0.done == true || $0.priority < 2) },
            todos.where(\.done, .equal, false).where(\.priority, .greaterThanOrEqual, 2)
        ),
        (
            todos.where { !($0.priority > 2 && $0.priority <= 9) },
            todos.where(.any([.field("rank", .lessThanOrEqual, 2), .field("rank", .greaterThan, 9)]))
        ),
    ]

    @Test(arguments: table.indices) func `A condition makes the query that its operators stand for`(row: Int) {
        let (made, written) = Self.table[row]
        #expect(written.query.mistake == nil)
        #expect(made.query == written.query)
        #expect(made == written)
    }

    @Test func `A condition adds to earlier ones, and takes values from around it`() {
        let least = 2
        let made = Self.todos.where(\.done, .equal, false).where { $0.priority >= least }.limited(to: 3)
        #expect(
            made.query
                == Self.todos.where(\.done, .equal, false).where(\.priority, .greaterThanOrEqual, 2).limited(to: 3)
                .query)
    }

    @Test func `What a query cannot ask for is its mistake, in the words of the written-out query`() {
        let computed = Self.todos.where { $0.heading == "x" }.query.mistake
        #expect(computed != nil && computed == Self.todos.where(\.heading, .equal, "x").query.mistake)
        let tooMany = Array(repeating: 1, count: 31)
        let long = Self.todos.where { $0.priority.in(tooMany) }.query.mistake
        #expect(long != nil && long == Self.todos.where(\.priority, .in, tooMany).query.mistake)
        let inside = Self.todos.where { $0.done && $0.heading == "x" }.query.mistake
        #expect(inside == computed)
    }

    @Test func `The negation of a list's condition is a mistake that says so`() {
        let mistake = Self.todos.where { !($0.done || $0.tags.contains("new")) }.query.mistake
        #expect(mistake?.code == .invalidArgument)
        #expect(mistake?.message.contains("No query finds lists without an element") == true)
    }

    @Test func `A query without a client is a value, and the same query once it has one`() async throws {
        let open = Self.path.of(Todo.self).where { $0.done == false && $0.priority >= 2 }.ordered(by: \.priority)
        let written = Self.path.of(Todo.self).where(\.done, .equal, false).where("rank", .greaterThanOrEqual, 2)
            .ordered(by: "rank")
        #expect(open == written && Set([open, written]).count == 1)
        #expect(open != open.limited(to: 1))
        let there = Self.todos.where { $0.done == false && $0.priority >= 2 }.ordered(by: \.priority)
        #expect(open.in(Self.todos.storage) == there)
        #expect("\(open)" == "\(open.in(Self.todos.storage))")
        let group = Query(group: "todos").of(Todo.self).where(\.due, .isNull)
        #expect(group.query == Query(group: "todos").where("due", .isNull))
        #expect(Self.path.of(Todo.self).where { $0.heading == "x" }.query.mistake != nil)
    }

    @Test func `It reads through whichever client it gets`() async throws {
        struct Person: Codable, Sendable {
            var name: String
            var age: Int
        }
        let adults = CollectionPath("people").of(Person.self).where { $0.age >= 18 }
        let (here, there) = (ToyStorage(), ToyStorage())
        try await here.setDocument("people/a", ["name": "Ann", "age": 30])
        try await there.setDocument("people/b", ["name": "Bob", "age": 40])
        try await there.setDocument("people/c", ["name": "Cid", "age": 4])
        #expect(try await adults.in(here).documents().map(\.name) == ["Ann"])
        #expect(try await adults.in(there).documents().map(\.name) == ["Bob"])
        let ann = StoragePath("people/a").of(Person.self)
        #expect(try await ann.in(here).get()?.age == 30)
        #expect(try await ann.in(there).get() == nil)
        #expect(ann == StoragePath("people/a").of(Person.self) && ann != StoragePath("people/b").of(Person.self))
    }
}
