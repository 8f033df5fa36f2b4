// The shortest way from nothing to a live query.
import Switchyard
import SwitchyardMock

let backend = try await InfrastructureFactory(MockModule()).make(InfrastructureSelection(default: .mock))
let (auth, storage) = (backend.auth, backend.storage)

let alice = try await auth.signUp(email: "alice@example.com", password: "correct horse battery")
print("signed in: \(alice.id)")

try await storage.setDocument("cities/ulm", ["name": "Ulm", "people": 128_928])
try await storage.setDocument("cities/bern", ["name": "Bern", "people": 134_506])
try await storage.updateDocument("cities/ulm", ["people": .increment(1), "visitedAt": .serverTime])

let large = try Query(in: "cities").where("people", .greaterThan, 100_000).ordered(by: "people", .descending)
for city in try await storage.documents(large).documents {
    print("\(city["name"]?.stringValue ?? "?"): \(city["people"]?.integerValue ?? 0) people")
}

var isFirst = true
for try await snapshot in storage.snapshots(of: large) {
    let names = snapshot.documents.compactMap { $0["name"]?.stringValue }
    print("live: \(names.joined(separator: ", ")) (\(snapshot.changes.count) changed)")
    if !isFirst { break }
    isFirst = false
    try await storage.setDocument("cities/köln", ["name": "Köln", "people": 1_087_353])
}

await backend.shutDown()
