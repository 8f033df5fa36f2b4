import Foundation
import Switchyard

/// Finds people whose check-in is late and notifies their responders: for a server, which runs it every minute or so with the
/// project's own rights.
struct MissedCheckIns: Sendable {
    private struct Person: Codable, Sendable {
        var displayName: String?
        var lastCheckInAt: Date?
        var checkInInterval: Double?
    }

    /// The documents of the project, as no device sees them.
    let project: any StorageClient

    /// - Parameter now: The time of day, so that a test need not wait.
    /// - Returns: The number of new notifications. Running it again for the same check-in makes none.
    func notify(at now: Date) async throws -> Int {
        var count = 0
        let people = project.collection("users", of: Person.self).where(\.lastCheckInAt, .lessThan, now)
        for try await page in people.pages(size: 100) {
            for person in page.rows {
                guard let last = person.value.lastCheckInAt else { continue }
                let due = last.addingTimeInterval(person.value.checkInInterval ?? 86_400)
                guard due < now else { continue }
                count += try await notifyResponders(
                    of: person.id.id, named: person.value.displayName, due: due, at: now)
            }
        }
        return count
    }

    private func notifyResponders(of id: String, named name: String?, due: Date, at now: Date) async throws -> Int {
        // Its ID says which check-in is meant, so that there is one notification for each.
        let missed = NotificationModel(
            id: "missed-\(id)-\(Int(due.timeIntervalSince1970))", title: "\(name ?? "Someone") has not checked in",
            body: "It was due at \(due.formatted(.iso8601)).", kind: "missedCheckIn", sentAt: Timestamp(now))
        var count = 0
        let contacts = Query(in: CollectionPath("users", id, "contacts")).where("isResponder", .equal, true)
        for responder in try await project.documents(contacts).documents {
            do throws(StorageError) {
                let place = StoragePath("users", responder.id, "notifications", missed.id)
                try await project.createDocument(place, missed.fields).acknowledged()
                count += 1
            } catch {
                guard error.code == .alreadyExists else { throw error }
            }
        }
        return count
    }
}
