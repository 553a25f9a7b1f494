// make_recipe: creates a contender by the recipe that the user chose.
#include "recipes/make_recipe.h"

#include "recipes/exclusive_lock.h"
#include "recipes/fair_lock.h"

#include <utility>

namespace zksh {

std::unique_ptr<Recipe> make_recipe(RecipeKind kind, Client& client, Fiber& fiber,
                                    const LockReport& report, LockRequest request) {
  if (kind == RecipeKind::Exclusive)
    return std::make_unique<ExclusiveLock>(client, fiber, report, std::move(request));
  const auto wait = kind == RecipeKind::Herd ? LockWait::Children : LockWait::Predecessor;
  return std::make_unique<FairLock>(client, fiber, report, std::move(request), wait);
}

}  // namespace zksh
