// Made by “switchyard types --from supabase”. It makes the file again, without changes that are made here.

import Foundation
import Switchyard

/// A document of `lists/{list_id}/madeTasks`: a row of `public.madetasks`.
struct MadeTask: Codable, Sendable, Hashable {
    @DocumentID var id: UUID
    var done: Bool
    var due: Timestamp?
    var info: DocumentValue?
    var mood: Mood
    var moods: [String]?
    var owner: UUID
    var photo: Data?
    var price: Decimal?
    var rating: Double?
    /// The column `note`.
    var remark: String?
    var title: String

    enum Mood: String, Codable, Sendable, Hashable, CaseIterable {
        case happy
        case sadDay = "sad day"
        case `default`
    }
}
