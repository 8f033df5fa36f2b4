import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Embeddings give what plain reads give that are joined here.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RESTEmbeddingPropertyTests {
    @Test(arguments: RunSize.full([1, 2, 3], part: [1]) as [UInt64])
    func `An embedding equals two reads joined by the foreign key`(seed: UInt64) async throws {
        try await SupabaseBed.with { bed in
            var random = SeededGenerator(seed: seed)
            func some(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
            func maybe(_ range: ClosedRange<Int>) -> String { some(0...3) == 0 ? "null" : "\(some(range))" }
            let lists = (1...8).map { "(\($0), \(maybe(0...3)))" }.joined(separator: ", ")
            let todos = (1...40).map { "(\($0), \(maybe(1...8)), \(maybe(0...5)))" }.joined(separator: ", ")
            try await bed.run(
                "create table public.lists (id int primary key, n int)",
                "create table public.todos (id int primary key, list int references public.lists, n int)",
                "insert into public.lists values \(lists)", "insert into public.todos values \(todos)")
            func rows(_ query: String) async throws -> [JSON] {
                let answer = try await bed.send(.get, "/rest/v1/\(query)")
                #expect(answer.status == 200, "\(query): \(answer.json.text())")
                return answer.json.array ?? []
            }
            for _ in 0..<20 {
                let own = ["n=gt.\(some(0...3))", "n=is.null", "id=lte.\(some(1...9))", "id=not.is.null"][some(0...3)]
                let other = ["n=eq.\(some(0...5))", "n=is.null", "n=lt.\(some(1...6))", "id=gt.0"][some(0...3)]
                let order = ["id", "id.desc", "n.desc.nullslast,id", "n.asc.nullsfirst,id"][some(0...3)]
                let (limit, isInner) = (some(0...5), some(0...1) == 1)
                let join = isInner ? "!inner" : ""

                let parents = try await rows("lists?select=id,n&\(own)&order=id")
                let children = try await rows("todos?select=n,id,list&\(other)&order=\(order)")
                let many = parents.map { parent in
                    (parent, children.filter { $0["list"] == parent["id"] }.prefix(limit))
                }
                let query =
                    "lists?select=id,n,todos\(join)(n,id,list)&\(own)&order=id&todos.\(other)&todos.order=\(order)&todos.limit=\(limit)"
                let embedded = try await rows(query)
                let expected: [JSON] = many.filter { !isInner || !$0.1.isEmpty }.map { parent, children in
                    ["id": parent["id"] ?? .null, "n": parent["n"] ?? .null, "todos": .array(Array(children))]
                }
                #expect(embedded == expected, "seed \(seed): \(query)")

                let singles = try await rows("todos?select=id,lists\(join)(id)&\(other)&order=\(order)&lists.\(own)")
                let ids = Set(parents.compactMap { $0["id"]?.int })
                let known: [JSON] = children.compactMap { child in
                    let list = child["list"]?.int.flatMap { ids.contains($0) ? $0 : nil }
                    guard !isInner || list != nil else { return nil }
                    return [
                        "id": child["id"] ?? .null,
                        "lists": list.map { ["id": .integer(Int64($0))] } ?? .null,
                    ]
                }
                #expect(singles == known, "seed \(seed): to one, \(other), \(own)")

                let absent = try await rows("lists?select=id,todos()&\(own)&todos.\(other)&todos=is.null&order=id")
                let childless = parents.filter { parent in !children.contains { $0["list"] == parent["id"] } }
                #expect(absent.map { $0["id"] } == childless.map { $0["id"] }, "seed \(seed): none, \(other), \(own)")
            }
        }
    }
}
