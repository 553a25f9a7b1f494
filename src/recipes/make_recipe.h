// make_recipe: creates a contender by the recipe that the user chose.
#pragma once

#include "base/named_values.h"
#include "recipes/recipe.h"

#include <memory>

namespace zksh {

/// The recipes for a single lock; all but the first are for demonstration and teaching.
enum class RecipeKind {
  Fair,       ///< a queue in which each contender watches its predecessor
  Herd,       ///< the same queue, but every change wakes everyone
  Exclusive,  ///< one node that all race to create
};

inline constexpr NamedValues<RecipeKind, 3> recipe_names{
    {{"fair", RecipeKind::Fair}, {"herd", RecipeKind::Herd}, {"exclusive", RecipeKind::Exclusive}}};

/// Creates a contender, which has not sent anything yet. `client`, `fiber` and `report` must
/// outlive it; it runs on `fiber`. Throws UsageError if the recipe cannot do what is requested.
std::unique_ptr<Recipe> make_recipe(RecipeKind kind, Client& client, Fiber& fiber,
                                    const LockReport& report, LockRequest request);

}  // namespace zksh
