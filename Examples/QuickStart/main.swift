// The shortest way to a live query.
import Foundation
import Switchyard
import SwitchyardMock

struct City: Codable, Sendable {
    var name: String
    var people: Int
    @ServerTimestamp var visitedAt: Date?
}

let backend = try await Infrastructure(.mock)
let cities = backend.storage.collection("cities", of: City.self)

let alice = try await backend.auth.signUp(email: "alice@example.com", password: "correct horse battery").get()
print("signed in: \(alice.id)")

try await cities.document("ulm").set(City(name: "Ulm", people: 128_928))
try await cities.document("bern").set(City(name: "Bern", people: 134_506))
try await cities.document("ulm").update(\.people, .increment(1))

let large = cities.where(\.people, .greaterThan, 100_000).ordered(by: \.people, .descending)
for city in try await large.documents() {
    print("\(city.name): \(city.people) people")
}

var isFirst = true
for try await list in large.stream() {
    print("live: \(list.map(\.name).joined(separator: ", ")) (\(list.snapshot.changes.count) changed)")
    if !isFirst { break }
    isFirst = false
    try await cities.document("köln").set(City(name: "Köln", people: 1_087_353))
}

await backend.shutDown()
