// make_recipe: a contender for a lock, by the recipe that the user chose.
#pragma once

#include "base/named_values.h"
#include "recipes/recipe.h"

#include <memory>

namespace zksh {

/// The ways to hold one lock; for demonstration and teaching all but the first.
enum class RecipeKind {
  Fair,       ///< a queue in which each watches only the one before it
  Herd,       ///< the same queue, but everyone is woken by every change of it
  Exclusive,  ///< one node that all race for: whoever is fastest, not who came first
};

inline constexpr NamedValues<RecipeKind, 3> recipe_names{
    {{"fair", RecipeKind::Fair}, {"herd", RecipeKind::Herd}, {"exclusive", RecipeKind::Exclusive}}};

/// A contender, which has asked for nothing yet. `client`, `fiber` and `report` outlive it; it
/// runs on `fiber`. Throws UsageError when the recipe cannot do what is requested.
std::unique_ptr<Recipe> make_recipe(RecipeKind kind, Client& client, Fiber& fiber,
                                    const LockReport& report, LockRequest request);

}  // namespace zksh
